// Calls that are refused: each with its message, code, line and caret. The caret's range stands between « and
// ».
#include "LoweringFixture.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Refused {
  std::string body; ///< the last lines of the kernel
  std::string message;
  std::string code;
};

const std::string kBefore = R"(
import triton.language.extra.cann.extension as ext
@triton.jit
def plus(a, b):
    return a + b
@triton.jit
def pair(a, b):
    return a, b
@triton.jit
def wide(a, b):
    return (a + b).to(tl.float64)
@triton.jit
def k(X, H, J, L, n, s, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(X + i)
    j = tl.load(J + i)
    l = tl.load(L + i)
    m = tl.load(X + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])
    h = m.to(tl.float16)
    d = tl.make_tensor_descriptor(X, [n, 16], [16, 1], [16, 16])
    p = tl.make_block_ptr(X, (n, 16), (16, 1), (0, 0), (16, 16), (1, 0))
)";

void check(const Refused &refused) {
  SCOPED_TRACE(refused.body);
  const std::string open = "«", close = "»";
  std::string body = refused.body;
  const size_t from = body.find(open);
  ASSERT_NE(from, std::string::npos);
  body.erase(from, open.size());
  const size_t to = body.find(close);
  ASSERT_NE(to, std::string::npos);
  body.erase(to, close.size());
  const size_t lineStart = body.rfind('\n', from) == std::string::npos ? 0 : body.rfind('\n', from) + 1;
  const auto before = std::count(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(from), '\n');
  const auto line = 3 + std::count(kBefore.begin(), kBefore.end(), '\n') + before;
  const size_t column = from - lineStart + 5; // four blanks of indentation, counted from one
  const std::string text = kBefore + "    " + std::regex_replace(body, std::regex("\n"), "\n    ") + "\n";
  const std::string error =
      errorOf(text, {"X=f32[4096]", "H=f16[4096]", "J=i32[4096]", "L=i64[4096]", "n=100", "s=1.5"}, "B=32");
  const std::string place = "k.py:" + std::to_string(line) + ":" + std::to_string(column) + ": error: ";
  EXPECT_EQ(error.substr(0, place.size()), place) << error;
  EXPECT_THAT(error, testing::HasSubstr(refused.message));
  EXPECT_THAT(error, testing::HasSubstr("[" + refused.code + "]"));
  const std::string caret = "^" + std::string(to - from - 1, '~') + "\n";
  EXPECT_THAT(error, testing::HasSubstr(" " + caret)) << error;
}

void checkAll(const std::vector<Refused> &cases) {
  for (const Refused &refused : cases)
    check(refused);
}

constexpr const char *kType = "lower.type", *kShape = "lower.shape", *kCall = "lower.call",
                     *kUnsupported = "lower.unsupported";

} // namespace

TEST(BuiltinErrors, Calls) {
  checkAll({
      {"tl.exp(x, «x»)", "tl.exp takes at most 1 positional arguments, but 2 were given", kCall},
      {"tl.load(X, «msk=i < n»)", "tl.load has no parameter 'msk'", kCall},
      {"tl.load(X, i < n, «mask=i < n»)", "tl.load got several values for 'mask'", kCall},
      {"«tl.store(X)»", "tl.store is called without its argument 'value'", kCall},
      {"«tl.range(0, 4)»", "tl.range is for `for` loops only", kUnsupported},
  });
}

TEST(BuiltinErrors, Programs) {
  checkAll({
      {"tl.program_id(«3»)", "tl.program_id axis must be 0, 1, or 2 but got 3", kType},
      {"tl.arange(0, «n»)", "arange's arguments must be of type tl.constexpr, but 'n' is int32", kType},
      {"«tl.arange(4, 4)»", "arange's end argument must be greater than the start argument", kShape},
      {"«tl.arange(0, 1 << 33)»", "arange must fit in int32", kType},
      {"«tl.multiple_of(m, 16)»", "shape of input to multiple_of does not match the length of values",
       kShape},
      {"tl.multiple_of(i, «n»)", "argument 'values' of tl.multiple_of must be constexpr integers", kType},
      {"«tl.device_print('x', 'y')»", "device_print prints tensors and numbers, not constexpr[str]", kType},
      {"«tl.core.get_int_dtype(7, True)»", "unsupported bitwidth 7 and signedness true", kType},
  });
}

TEST(BuiltinErrors, Shapes) {
  checkAll({
      {"tl.zeros(«(12,)», tl.float32)", "shape element 12 must be a power of 2", "shape.pow2"},
      {"tl.zeros(«(2048, 1024)», tl.float32)", "exceeds triton maximum tensor numel (1048576)",
       "shape.numel"},
      {"tl.zeros(«(n,)», tl.float32)", "a shape must be made of constexpr integers", kType},
      {"tl.full((4,), «'a'», tl.float32)", "argument 'value' of tl.full must be a number or a scalar", kType},
      {"tl.zeros((4,), «4»)", "argument 'dtype' of tl.zeros must be a dtype", kType},
      {"«tl.reshape(x, (4, 4))»", "reshape() cannot change total number of elements in tensor: [B] to [4, 4]",
       kShape},
      {"«tl.permute(m, (0,))»", "permute dims must have the same length as input shape, got 2 and 1", kShape},
      {"«tl.permute(m, (0, 0))»", "permute dims must be a permutation of 0, 1, ..., n-1", kShape},
      {"«tl.trans(x)»", "tl.trans invoked with a 0- or 1-dimensional tensor", kShape},
      {"tl.expand_dims(x, «3»)", "invalid axis 3; expected -2 <= axis < 2", kShape},
      {"tl.expand_dims(x, «(0, 0)»)", "expand_dims received duplicate axes", kShape},
      {"tl.squeeze(m, «0»)", "squeeze needs an axis of extent 1, not 16", kShape},
      {"«tl.split(m)»", "split needs a last axis of extent 2, not fp32[16, 16]", kShape},
      {"«tl.join(x, j)»", "join needs tensors of one type, not fp32[B] and int32[B]", kType},
      {"«tl.cat(x, j)»", "cat needs tensors of one dtype and rank, not fp32[B] and int32[B]", kType},
      {"«tl.cat(m, m, can_reorder=True)»", "expected 1D input for cat, got 2D", kShape},
      {"tl.gather(x, «x», 0)", "argument 'index' of tl.gather must be an integer tensor", kType},
      {"«tl.gather(m, j, 0)»", "source and index tensors must have the same rank", kShape},
      {"tl.gather(x, j, «1»)", "invalid axis 1; expected -1 <= axis < 1", kShape},
      {"«n.flip()»", "flip needs a tile", kShape},
      {"«x + m»", "cannot make shapes compatible: incompatible dimensions at index 1", kShape},
      {"«tl.broadcast_to(x, (16, 16))»", "cannot broadcast, rank mismatch: [B], [16, 16]", kShape},
      {"«x.item()»", "only a tile of one element can become a scalar", kShape},
      {"«x[0]»", "unsupported tensor index: a tile of type fp32[B] takes only ':' and 'None'", kUnsupported},
      {"«x[:, :]»", "too many indices for tensor of rank 1", kShape},
  });
}

TEST(BuiltinErrors, CastsAndArithmetic) {
  checkAll({
      {"«x.to(tl.int32, fp_downcast_rounding='rtz')»",
       "fp_downcast_rounding is for conversions to a narrower float only", kType},
      {"«x.to(tl.float16, fp_downcast_rounding='up')»",
       "invalid rounding mode 'up'; supported are 'rtne' and 'rtz'", kType},
      {"«x.to(tl.float16, bitcast=True)»", "cannot bitcast data-type of size 32 to data-type of size 16",
       kType},
      {"«x.to(tl.pointer_type(tl.float32))»", "cannot cast fp32[B] to pointer<fp32>[B]", kType},
      {"«X + X»", "cannot add pointers together", kType},
      {"«X * 2»", "invalid operands of type pointer<fp32> and constexpr[int]", kType},
      {"«X + x»", "invalid operands of type pointer<fp32> and fp32[B]", kType},
      {"«x // j»", "// is for integers only", kType},
      {"«x & j»", "invalid operands of type fp32[B] and int32[B]", kType},
      {"«~x»", "wrong type argument to unary invert (fp32[B])", kType},
      {"«-X»", "wrong type argument to unary minus (pointer<fp32>)", kType},
      {"«x ** 2»", "unsupported operand type(s) for **", kUnsupported},
      {"«m @ m»", "unsupported operand type(s) for @", kUnsupported},
      {"«j.to(tl.uint32) // j»", "they differ in signedness", kType},
      {"«j.to(tl.uint32) + -1»", "cannot combine an unsigned tensor with a negative number", kType},
      {"«j.to(tl.int8) + 1000»", "the number 1000 is out of range for type int8", kType},
      {"tl.exp(«h»)", "expected dtype ['fp32', 'fp64'] but got fp16", kType},
      {"tl.sigmoid(«j»)", "expected dtype ['fp32', 'fp64'] but got int32", kType},
      {"«tl.fdiv(j, j)»", "fdiv requires floating-point operands after type promotion", kType},
      {"«tl.umulhi(j.to(tl.int16), j.to(tl.int16))»",
       "expected dtype ['int32', 'int64', 'uint32', 'uint64'] but got int16", kType},
      {"«tl.math.pow(j, j)»", "tl.math.pow needs floating-point operands", kType},
      {"tl.math.tanh(«j»)", "argument 'x' of tl.math.tanh must be a floating-point tensor", kType},
      {"tl.math.popc(«x»)", "argument 'x' of tl.math.popc must be an integer tensor", kType},
      {"tl.math.float2int_rn(«j»)", "argument 'x' of tl.math.float2int_rn must be a floating-point tensor",
       kType},
      {"tl.math.float_as_int(«j»)", "argument 'x' of tl.math.float_as_int must be of dtype fp32", kType},
      {"«tl.math.norm3d(j, j, j)»", "tl.math.norm3d needs floating-point operands", kType},
  });
}

TEST(BuiltinErrors, Memory) {
  checkAll({
      {"tl.load(«x»)", "unsupported ptr type fp32[B] in `tl.load`", kType},
      {"tl.load(X, «i < n»)", "mask argument cannot be block type if pointer argument is not a block",
       kShape},
      {"tl.load(X + i, «other=0.0»)", "`other` cannot be provided without `mask`", kCall},
      {"tl.load(X + i, «cache_modifier='.zz'»)", "cache modifier .zz not supported", kType},
      {"tl.load(X + i, «eviction_policy='evict'»)", "eviction policy evict not supported", kType},
      {"tl.store(X, «x»)", "value argument cannot be block type if pointer argument is not a block", kShape},
      {"tl.store((«X + tl.arange(0, 1)»), x)", "expected pointer argument to have shape [B] but got [1]",
       kShape},
      {"tl.store(X + i, x, «j»)", "mask must have boolean scalar type", kType},
      {"«tl.atomic_max(H + i, 1.0)»", "atomic_max does not support fp16", kType},
      {"tl.atomic_add(X + i, x, «sem='seq'»)", "memory semantic seq not supported", kType},
      {"tl.atomic_add(X + i, x, «scope='all'»)", "memory scope all not supported", kType},
      {"tl.atomic_add(X + i, x, «j»)", "mask must have boolean scalar type", kType},
      {"tl.atomic_load(J, «sem='release'»)", "tl.atomic_load only supports acquire and relaxed semantics",
       kType},
      {"tl.atomic_load(J, «i < n»)", "mask argument cannot be block type if pointer argument is not a block",
       kShape},
      {"tl.atomic_store(J, 1, «sem='acquire'»)",
       "tl.atomic_store only supports release and relaxed semantics", kType},
      {"tl.atomic_poll(«X», 1)", "atomic_poll only supports integer elements with width {16, 32, 64}", kType},
      {"tl.atomic_poll(J, 1, «timeout_ns=x»)",
       "argument 'timeout_ns' of tl.atomic_poll must be a scalar integer", kType},
  });
}

TEST(BuiltinErrors, BlocksAndDescriptors) {
  checkAll({
      {"tl.make_block_ptr(«x», (n,), (1,), (0,), (16,), (0,))",
       "argument 'base' of tl.make_block_ptr must be a scalar pointer", kType},
      {"tl.make_block_ptr(X, «(n, n)», (1,), (0,), (16,), (0,))", "expected 1 shape, but got 2", kShape},
      {"tl.make_block_ptr(X, (n,), (1,), (0,), (16,), «(1,)»)",
       "expected a permutation of (0, 1, ..., len(order)-1) in order", kShape},
      {"tl.make_block_ptr(X, «(s,)», (1,), (0,), (16,), (0,))",
       "expected an integer scalar type in shape/strides/offsets", kType},
      {"«tl.load(p, mask=True)»",
       "`mask` and `other` arguments cannot be specified for loading block pointers", kType},
      {"«tl.load(p, boundary_check=(2,))»", "`boundary_check` names axis 2 of 2", kShape},
      {"«tl.load(p, boundary_check=(0, 0))»", "duplicate dimension in `boundary_check`", kShape},
      {"«tl.load(p, padding_option='one')»", "padding option one not supported", kType},
      {"tl.advance(«X», (0,))", "argument 'base' of tl.advance must be a block pointer", kType},
      {"tl.make_tensor_descriptor(X, [n, n], «[16, 2]», [16, 16])",
       "tensor descriptor last dim's stride must be the constexpr 1", kType},
      {"«tl.make_tensor_descriptor(X, [n, n], [16, 1], [16, 2])»",
       "must have at least 16 bytes in the last dimension", kShape},
      {"tl.make_tensor_descriptor(X, «[n] * 6», [n] * 6, [1] * 6)",
       "expected 1 <= ndim <= 5 but got 6 dimensions", kShape},
      {"d.load(«[0]»)", "expected 2 offsets, but got 1", kShape},
      {"d.store([0, 0], «x»)", "expected value shape [16, 16], got [B]", kShape},
      {"«d.gather»(j, 0)", "descriptor block must have 1 row, but got [16, 16]", kShape},
      {"«d.atomic_and([0, 0], m)»", "unsupported dtype fp32 for and", kType},
      {"tl._experimental_descriptor_load(«x», [0], [16], tl.float32)", "must be a scalar pointer", kType},
  });
}

TEST(BuiltinErrors, CombinationsAndProducts) {
  checkAll({
      {"tl.sum(«n», 0)", "tl.sum needs a tile, not int32", kType},
      {"tl.sum(m, «2»)", "invalid axis 2; expected -2 <= axis < 2", kShape},
      {"tl.xor_sum(«x», 0)", "tl.xor_sum only supported for integers", kType},
      {"«tl.max(m, return_indices=True)»", "return_indices needs an axis", kCall},
      {"tl.reduce(x, 0, «n»)", "argument 'combine_fn' of tl.reduce must be a @triton.jit function", kType},
      {"tl.reduce(x, 0, «pair»)", "the combine function returns 2 values for 1 inputs", kType},
      {"tl.reduce(x, 0, «wide»)", "the combine function returns fp64 for elements of type fp32", kType},
      {"«tl.reduce((x, m), 0, pair)»", "all reduction inputs must have the same shape", kShape},
      {"«tl.associative_scan(x, None, plus)»", "associative_scan needs an axis", kCall},
      {"tl.sort(m, «0»)", "only the minor dimension can be sorted", kUnsupported},
      {"tl.topk(x, «3»)", "topk: k must be a power of two", "shape.pow2"},
      {"tl.topk(x, «64»)", "topk: k must not exceed the size of the selected dimension", kShape},
      {"tl.histogram(«x», 8)", "histogram only supports 1D 32-bit integer input", kType},
      {"«tl.dot(x, x)»", "input and other must have equal ranks >= 2", kShape},
      {"«tl.dot(m, h)»", "both operands must be same dtype. Got fp32 and fp16", kType},
      {"«tl.dot(m, m[:, :, None].reshape(4, 64))»",
       "input and other must have equal reduction dimensions: [16, 16] and [4, 64]", kShape},
      {"tl.dot(m, m, «acc=h»)", "expected accumulator dtype fp32, got fp16", kType},
      {"«tl.dot(h, h, out_dtype=tl.bfloat16)»", "out_dtype=bfloat16 is unsupported", kType},
      {"tl.dot(«m.to(tl.int32)», m.to(tl.int32))", "unsupported lhs dtype int32", kType},
      {"«tl.dot(m, m, input_precision='ieee', allow_tf32=True)»",
       "only one of input_precision and allow_tf32 can be specified", kCall},
      {"tl.dot_scaled(m, None, «'fp4'», m, None, 'e5m2')",
       "the format must be e2m1, e4m3, e5m2, bf16 or fp16, not 'fp4'", kType},
      {"tl.dot_scaled(«m», None, 'e4m3', m, None, 'e5m2')", "unexpected dtype for e4m3: fp32", kType},
      {"tl.dot_scaled(h, None, 'fp16', h, None, 'fp16', «lhs_k_pack=False»)",
       "only mxfp4 inputs can be packed along a dimension different than K", kType},
      {"tl.dot_scaled(h, «x», 'fp16', h, None, 'fp16')", "a scale must be uint8 or fp8e4nv, not fp32[B]",
       kType},
      {"tl.dot_scaled(h, «m.to(tl.uint8)», 'fp16', h, None, 'fp16')",
       "a scale must have shape [..., 16, 16 / 32] or [..., 16, 16 / 16], but got [16, 16]", kShape},
      {"tl.dot_scaled(h, None, 'fp16', h, None, 'fp16', «x»)",
       "expected an accumulator of fp32[16, 16], got fp32[B]", kType},
  });
}

TEST(BuiltinErrors, ScalarFunctionsAndRandomNumbers) {
  checkAll({
      {"tl.map_elementwise(«n», x)",
       "argument 'scalar_fn' of tl.map_elementwise must be a @triton.jit function", kType},
      {"«tl.map_elementwise(plus)»", "map_elementwise needs a tensor to map over", kCall},
      {"tl.map_elementwise(plus, x, x, «pack=0»)", "pack must be >= 1, got 0", kType},
      {"tl.map_elementwise(plus, x, x, «pack=5000»)", "pack must be <= 1024, got 5000", "lower.limit"},
      {"tl.inline_asm_elementwise('', '', [x], «dtype=4», is_pure=True, pack=1)",
       "argument 'dtype' of tl.inline_asm_elementwise must be a dtype", kType},
      {"tl.inline_asm_elementwise('', '', [x], «dtype=()», is_pure=True, pack=1)",
       "inline assembly must return at least one tensor", kType},
      {"tl.rand(0, «x»)", "argument 'offset' of tl.rand must be an integer or a tile of integers", kType},
      {"«tl.philox_impl(j, j, j, j, 0, 0)»",
       "the words of tl.philox_impl must be uint32 or uint64, not int32", kType},
      {"«tl.philox(0, j, j, j, l)»", "the counter's words of tl.philox must have equal width", kType},
      {"«tl.random.uint_to_uniform_float(j.to(tl.int16))»", "takes integers of 32 or 64 bits, not int16",
       kType},
  });
}

TEST(BuiltinErrors, ExtensionsOfTargets) {
  checkAll({
      {"ext.extract_slice(m, «(0,)», (4, 4), (1, 1))", "expected 2 offsets, but got 1", kShape},
      {"ext.extract_slice(m, (0, 0), «(4,)», (1, 1))", "expected 2 sizes, but got 1", kShape},
      {"ext.extract_slice(m, (0, 0), (4, 4), «(1,)»)", "expected 2 strides, but got 1", kShape},
      {"ext.extract_slice(m, (0, 0), (4, 4), «(1, -1)»)", "a slice's stride must not be negative", kShape},
      {"ext.extract_slice(m, (0, 0), «(0, 4)», (1, 1))", "a slice's size must be at least 1, but 0 is not",
       kShape},
      {"ext.insert_slice(m, «x», (0, 0), (4, 4), (1, 1))",
       "the inserted tile must have shape [4, 4], not [B]", kShape},
      {"ext.get_element(x, «(0.5,)»)", "argument 'indice' of ext.get_element must be integers", kType},
      {"ext.cast(j, tl.int8, «overflow_mode='wrap'»)",
       "overflow_mode must be 'trunc' or 'saturate', not 'wrap'", kType},
      {"ext.gather_out_to_ub(«x», j, 6, 0, (1,), (9,), (0,))",
       "argument 'src' of ext.gather_out_to_ub must be a scalar pointer", kType},
      {"ext.gather_out_to_ub(X, «x», 6, 0, (1,), (9,), (0,))", "must be a tile of integers", kType},
      {"ext.index_put(X, «j», m, 0, 16, (16, 16), (0, 0), (16, 1))",
       "index.numel must equal value.shape[dim]", kShape},
      {"with «x»:\n    pass", "`with` takes only scopes of triton.language inside a kernel", kUnsupported},
      {"«tl.extra.cuda.num_warps»()", "it depends on a compile option, which a Program does not carry",
       kUnsupported},
      {"«tl.target_info.current_target»()", "a Program is lowered for no target in particular", kUnsupported},
  });
}
