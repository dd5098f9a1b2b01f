// Operations whose lowering is more than one line of the tables: what they become, and that their text reads
// back.
#include "LoweringFixture.h"

using namespace tilewright;
using namespace tilewright::test;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A kernel around `body`: tiles x and y of B f32, j of B i32, m of 16 x 16.
std::string kernel(const std::string &body) {
  std::string text =
      "\nimport triton.language.extra.cann.extension as ext\n@triton.jit\ndef plus(a, b):\n    return a + b\n"
      "@triton.jit\ndef two(a, b):\n    return a + 1, b * 2.0\n"
      "@triton.jit\ndef k(X, J, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    x = tl.load(X + i)\n"
      "    j = tl.load(J + i)\n    m = tl.load(X + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, "
      ":])\n";
  return text + "    " + std::regex_replace(body, std::regex("\n"), "\n    ") + "\n";
}

/// The kernel's Program as text, which must also be what reading it back and printing it gives.
std::string lowered(const std::string &body, const std::string &witness = "B=32") {
  const Lowered result = lowerSource(kernel(body), {"X=f32[4096]", "J=i32[4096]"}, witness);
  const std::string text = textOf(result);
  if (!result.program)
    return text;
  const std::string printed = print(*result.program);
  const auto again = readProgram(std::make_shared<SourceFile>("k.tw", printed));
  EXPECT_TRUE(again) << (again ? "" : render(again.error())) << printed;
  if (again) {
    EXPECT_EQ(print(*again), printed);
    const auto verified = verify(*again);
    EXPECT_TRUE(verified) << (verified ? "" : render(verified.error()));
  }
  return text;
}

std::string refusal(const std::string &body) {
  return errorOf(kernel(body), {"X=f32[4096]", "J=i32[4096]"}, "B=32");
}

} // namespace

TEST(LoweringOps, HintsThatMentionOpenParametersPinNothing) {
  const std::string text =
      lowered("off = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * B + i, B), (B,))\n"
              "tl.store(X + off, x)");
  EXPECT_THAT(text, HasSubstr("{kind = \"multiple_of\", values = sym[B]}"));
  EXPECT_THAT(text, HasSubstr("{kind = \"max_contiguous\", values = sym[B]}"));
  EXPECT_THAT(text, Not(HasSubstr("\n  path ")));
}

TEST(LoweringOps, TopKStaysSymbolicInTheLengthAndTakesTheSortWhenItIsAll) {
  const std::string text = lowered("tl.store(X + tl.arange(0, 4), tl.topk(x, 4))");
  EXPECT_THAT(text, HasSubstr("= topk %x {axis = 0, descending = true} : tile<4 x f32>"));
  EXPECT_THAT(lowered("tl.store(X + i, tl.topk(x, B, descending=False))"),
              HasSubstr("= sort %x {axis = 0, descending = false} : tile<B x f32>"));
  EXPECT_THAT(lowered("tl.store(X + i, tl.bitonic_merge(x))"),
              HasSubstr("sort %x {axis = 0, descending = false, merge = true}"));
}

TEST(LoweringOps, MapMakesARegionOverScalars) {
  const std::string text = lowered("a, b = tl.map_elementwise(two, j, x)\ntl.store(X + a, b)");
  EXPECT_THAT(text, HasSubstr("map %j, %x {pack = 1} : tile<B x i32>, tile<B x f32> { ("));
  EXPECT_THAT(text, HasSubstr("yield "));
}

TEST(LoweringOps, AssemblyIsOpaqueWithDeclaredTypes) {
  const std::string text = lowered("a, b = tl.inline_asm_elementwise('mov.b32 $0, $2;', '=r,=r,r', [j], "
                                   "dtype=(tl.int32, tl.float32), is_pure=True, pack=1)\ntl.store(X + a, b)");
  EXPECT_THAT(text,
              HasSubstr("= inline_asm %j {asm = \"mov.b32 $0, $2;\", constraints = \"=r,=r,r\", pack = 1, "
                        "pure = true} : tile<B x i32>, tile<B x f32>"));
}

TEST(LoweringOps, UnusedAssemblyStaysUnlessItIsPure) {
  const std::string call = "tl.inline_asm_elementwise('nop;', '=r,r', [j], dtype=tl.int32, pack=1, is_pure=";
  EXPECT_THAT(lowered(call + "False)"), HasSubstr("inline_asm"));
  EXPECT_THAT(lowered(call + "True)"), Not(HasSubstr("inline_asm")));
}

TEST(LoweringOps, SlicesOfATile) {
  const std::string text =
      lowered("e = ext.extract_slice(m, (n, 0), (4, 3), (1, 2))\n"
              "tl.store(X + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], "
              "ext.insert_slice(m, e, (0, n), (4, 3), (1, 1)))\ntl.store(X, ext.get_element(x, (n,)))");
  EXPECT_THAT(text, HasSubstr("{strides = [1, 2]} : tile<4 x 3 x f32>"));
  EXPECT_THAT(text, HasSubstr("= insert_slice %m, %e"));
  EXPECT_THAT(text, HasSubstr("{strides = [1]} : tile<1 x f32>"));
}

TEST(LoweringOps, DescriptorsOfRowsAndAtomicUpdates) {
  const std::string text = lowered(
      "d = tl.make_tensor_descriptor(X, [n, 16], [16, 1], [1, 16])\nr = tl.load(J + tl.arange(0, 16))\n"
      "d.scatter(d.gather(r, n), r, 0)\n"
      "t = tl.make_tensor_descriptor(X, [n, 16], [16, 1], [16, 16])\nt.atomic_add([0, n], m)");
  EXPECT_THAT(text, HasSubstr("= descriptor_gather %d, %r, %n : tile<16 x 16 x f32>"));
  EXPECT_THAT(text, HasSubstr("descriptor_scatter %d, "));
  EXPECT_THAT(text, HasSubstr("descriptor_reduce %t, %m, "));
  EXPECT_THAT(text, HasSubstr("{operation = \"fadd\"}"));
}

TEST(LoweringOps, SingleAtomicAccesses) {
  const std::string text =
      lowered("tl.atomic_load(J + i)\ntl.atomic_store(J + i, j, mask=i < n, scope='sys')\n"
              "tl.store(J + i, tl.atomic_poll(J + i, 1, timeout_ns=5).to(tl.int32))");
  EXPECT_THAT(text,
              HasSubstr("{scope = \"gpu\", sem = \"acquire\"} : tile<B x i32>")); // unused, and yet it stays
  EXPECT_THAT(text, HasSubstr("{scope = \"sys\", sem = \"release\"}"));
  EXPECT_THAT(text, HasSubstr(": tile<B x i1>"));
}

TEST(LoweringOps, ScaledProduct) {
  const std::string text =
      lowered("a = tl.load(J + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]).to(tl.uint8)\n"
              "s = tl.load(J + tl.arange(0, 16)[:, None] * 2 + tl.arange(0, 2)[None, :]).to(tl.uint8)\n"
              "c = tl.dot_scaled(a, s, 'e2m1', tl.trans(a), None, 'e2m1')\n"
              "tl.store(X + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], c)");
  EXPECT_THAT(text, HasSubstr("a_format = \"e2m1\", a_k_pack = true, a_scaled = true"));
  EXPECT_THAT(text, HasSubstr(": tile<16 x 16 x f32>"));
}

TEST(LoweringOps, DescriptorOfTheHostIsOpaque) {
  const std::string text =
      lowered("tl._experimental_descriptor_store(X, tl._experimental_descriptor_load(J, [n, 0], [16, 16], "
              "tl.float16), [0, n])");
  EXPECT_THAT(text, HasSubstr("= make_descriptor %J {opaque = true, rank = 2} : descriptor<16 x 16 x f16>"));
}

TEST(LoweringOps, SaturatingCastBoundsFirst) {
  const std::string text =
      lowered("tl.store(J + i, ext.cast(j, tl.int8, overflow_mode='saturate').to(tl.int32))");
  EXPECT_THAT(text, HasSubstr("= min %j, "));
  EXPECT_THAT(text, HasSubstr("= max "));
}

TEST(LoweringOps, ScopesOfATargetAreTransparent) {
  EXPECT_THAT(lowered("with tl.extra.deeplink.async_task(scope=tl.extra.deeplink.async_task.vector):\n    "
                      "tl.store(X + i, x)"),
              HasSubstr("store "));
}

TEST(LoweringOps, ParallelLoopsAreLoopsWithAnOption) {
  EXPECT_THAT(lowered("for q in ext.parallel(0, 2, bind_sub_block=True):\n    tl.store(X + i + q, x)"),
              HasSubstr(" {bind_sub_block = true} "));
}

TEST(LoweringOps, QuestionsAboutTheTargetAreAnsweredAsWithoutADriver) {
  const Lowered result = lowerSource(kernel("if tl.target_info.is_cuda():\n    tl.store(X + i, x)"),
                                     {"X=f32[4096]", "J=i32[4096]"}, "B=32");
  ASSERT_TRUE(result.program) << render(result.program.error());
  ASSERT_FALSE(result.program->remarks.empty());
  EXPECT_EQ(result.program->remarks[0].code, "target.unknown");
}

TEST(LoweringOpsErrors, NameLineAndCaret) {
  EXPECT_THAT(
      refusal("tl.extra.cuda.num_warps()"),
      HasSubstr("'tl.extra.cuda.num_warps' is not supported: it depends on a compile option, which a Program "
                "does not "
                "carry [lower.unsupported]\n   tl.extra.cuda.num_warps()\n   ^~~~~~~~~~~~~~~~~~~~~~~\n"));
}

TEST(LoweringOpsErrors, OperandsThatTritonRefuses) {
  EXPECT_THAT(refusal("tl.topk(x, 3)"), HasSubstr("topk: k must be a power of two [shape.pow2]"));
  EXPECT_THAT(refusal("tl.topk(x, 64)"),
              HasSubstr("topk: k must not exceed the size of the selected dimension"));
  EXPECT_THAT(refusal("tl.sort(m, 0)"),
              HasSubstr("only the minor dimension can be sorted [lower.unsupported]"));
  EXPECT_THAT(refusal("tl.atomic_load(J, sem='release')"),
              HasSubstr("only supports acquire and relaxed semantics [lower.type]"));
  EXPECT_THAT(refusal("tl.atomic_store(J, 1, sem='acquire')"),
              HasSubstr("only supports release and relaxed semantics"));
  EXPECT_THAT(refusal("tl.atomic_poll(X, 1)"),
              HasSubstr("atomic_poll only supports integer elements with width {16, 32, 64}"));
  EXPECT_THAT(refusal("tl.philox_impl(j, j, j, j, 0, 0)"), HasSubstr("must be uint32 or uint64, not int32"));
  EXPECT_THAT(refusal("tl.rand(0, x)"),
              HasSubstr("argument 'offset' of tl.rand must be an integer or a tile of integers"));
  EXPECT_THAT(refusal("tl.map_elementwise(plus, x, x, pack=0)"), HasSubstr("pack must be >= 1, got 0"));
  EXPECT_THAT(refusal("tl.dot_scaled(m, None, 'fp4', m, None, 'e5m2')"),
              HasSubstr("the format must be e2m1, e4m3, e5m2, bf16 or fp16"));
  EXPECT_THAT(refusal("ext.extract_slice(m, (0,), (4, 4), (1, 1))"),
              HasSubstr("expected 2 offsets, but got 1 [lower.shape]"));
  EXPECT_THAT(refusal("ext.cast(j, tl.int8, overflow_mode='wrap')"),
              HasSubstr("overflow_mode must be 'trunc' or 'saturate'"));
  EXPECT_THAT(refusal("d = tl.make_tensor_descriptor(X, [n, 16], [16, 1], [2, 16])\nd.gather(j, 0)"),
              HasSubstr("descriptor block must have 1 row, but got [2, 16]"));
  EXPECT_THAT(refusal("with x:\n    pass"),
              HasSubstr("`with` takes only scopes of triton.language inside a kernel [lower.unsupported]"));
}

TEST(LoweringOps, ValuesOfScalarsReadBackAsTheyWere) {
  const std::string text = lowered("q = (2 + B - 1) // B\nr = q % 3\nlow = min(q, n, 7)\n"
                                   "cond = (n > 4) and (n > 0) or r == 0\n"
                                   "if cond:\n    low = low + 1\nelif r == True:\n    low = low - 1\n"
                                   "tl.store(J + i, j + low)");
  EXPECT_THAT(text, HasSubstr("rem"));
}
