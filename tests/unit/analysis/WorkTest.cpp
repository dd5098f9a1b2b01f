// What one program computes, and facts of odd programs.
#include "KernelUnderTest.h"

#include "tilewright/program/Text.h"

namespace tilewright {

namespace {

std::string workText(const KernelFacts &facts) {
  static constexpr std::string_view kKinds[] = {"elementwise", "transcendental", "reduce",
                                                "dot",         "scan",           "other"};
  std::string out;
  for (const WorkItem &item : facts.work) {
    out += (out.empty() ? "" : ", ") + std::string(kKinds[static_cast<size_t>(item.kind)]) + "[";
    for (size_t d = 0; d < item.shape.size(); ++d)
      out += (d ? "," : "") + toString(item.shape[d]);
    out += "]" + std::string(item.loops.size(), '*');
  }
  return out;
}

KernelFacts factsOfText(const std::string &text) {
  auto program = readProgram(std::make_shared<const SourceFile>("odd.tw", text));
  if (!program) {
    ADD_FAILURE() << render(program.error());
    return {};
  }
  return analyze(*program);
}

} // namespace

TEST(Work, DataOnly) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    for start in range(0, n, B):
        offs = start + tl.arange(0, B)
        v = tl.load(x + offs, mask=offs < n)
        tl.store(y + offs, tl.exp(v) + v, mask=offs < n)
)",
                         {"x=f32[64]", "y=f32[64]"});
  EXPECT_EQ(workText(kernel.facts), "transcendental[B]*, elementwise[B]*") << kernel.text();
}

TEST(Work, DotAndReduce) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m, tl.sum(tl.dot(x, y), 1))
)",
                         {"a=f32[64,64]", "b=f32[64,64]", "c=f32[64]"});
  EXPECT_EQ(workText(kernel.facts), "dot[M,N,K], reduce[M,N]") << kernel.text();
}

TEST(OddPrograms, EmptyBody) {
  const KernelFacts facts = factsOfText("kernel @empty(%x: ptr<f32>, open B = 16) {\n}\n");
  ASSERT_EQ(facts.parameters.size(), 1u);
  EXPECT_TRUE(facts.parameters[0].hasRole(Role::Unused));
}

TEST(OddPrograms, NoParameters) { EXPECT_TRUE(factsOfText("kernel @none() {\n}\n").axes.empty()); }

TEST(OddPrograms, DivisionByZeroAndByUnknown) {
  const KernelFacts facts = factsOfText(R"(kernel @zero(%x: ptr<i32>, %n: i32 = n) {
  %pid = program_id {axis = 0} : i32
  %zero = constant {value = 0} : i32
  %q = div %pid, %zero : i32
  %r = rem %pid, %n : i32
  %s = add %q, %r : i32
  %p = addptr %x, %s : ptr<i32>
  %v = load %p : i32
  %p2 = addptr %x, %v : ptr<i32>
  store %p2, %v
}
)");
  EXPECT_EQ(facts.accesses.size(), 2u);
  EXPECT_TRUE(facts.accesses[1].indirect);
}

TEST(OddPrograms, CarriedValueThatIsNoInduction) {
  const KernelFacts facts = factsOfText(R"(kernel @hash(%x: ptr<i32>, %n: i32 = n, open B = 16) {
  %zero = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %r = for %zero, %n, %one, %one : i32 {(%i: i32, %c: i32)
    %d = mul %c, %c : i32
    %p = addptr %x, %d : ptr<i32>
    store %p, %i
    yield %d
  }
}
)");
  ASSERT_EQ(facts.accesses.size(), 1u);
  EXPECT_TRUE(facts.accesses[0].indirect);
}

TEST(FactsText, Golden) {
  KernelUnderTest kernel(R"(
@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)",
                         {"x=f32[64]", "y=f32[64]"});
  EXPECT_EQ(print(kernel.facts), R"(facts @add ok
  axis n extent n contiguous tiled by [BLOCK]
    line 6: tl.load(x + offs, mask=offs < n)
    line 6: tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
  parameter BLOCK split of [n] proved
    line 5: tl.program_id(0) * BLOCK
  constraint shape.pow2: BLOCK must be a power of two (line 5)
  constraint shape.numel: a tile has at most 1048576 elements: BLOCK <= 1048576 (line 5)
  load x: 0 + BLOCK*pid0[cdiv(n, BLOCK)] + 1*lane0[BLOCK] contiguous 0 mask [n]
  store y: 0 + BLOCK*pid0[cdiv(n, BLOCK)] + 1*lane0[BLOCK] contiguous 0 mask [n]
  effects reads [x] writes [y] accumulates [] atomics []
  grid (cdiv(n, BLOCK))
)");
}

} // namespace tilewright
