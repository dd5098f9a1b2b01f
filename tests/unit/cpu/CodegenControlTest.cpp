// Control flow, tiles that loops carry, and the order of memory effects.
#include "CodegenFixture.h"

namespace tilewright::cpu {
namespace {

TEST(CodegenControl, CarriesAccumulatorsAndPointers) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)
    cols = tl.arange(0, C)
    total = tl.zeros((R, C), tl.float32)
    largest = tl.full((R,), -1000.0, tl.float32)
    pointers = x + rows[:, None] * n + cols[None, :]
    for start in range(0, n, C):
        v = tl.load(pointers, mask=(start + cols)[None, :] < n, other=0.0)
        total += v * v
        largest = tl.maximum(largest, tl.max(v, axis=1))
        pointers += C
    tl.store(y + rows, tl.sum(total, axis=1) + largest)
)",
                                            {"x=f32[4,100]", "y=f32[4]", "n=100"});
  kernel.tolerance(20);
  kernel.check("C=32,R=4", {1, 1, 1});
  kernel.check("C=128,R=2", {1, 1, 1});
  kernel.check("C=16,R=1", {1, 1, 1});
}

TEST(CodegenControl, RescalesCarriedTilesByEachOther) {
  // `running` is read by the update of `total` and overwritten in the same iteration.
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)
    cols = tl.arange(0, C)
    running = tl.full((R,), -1000.0, tl.float32)
    weight = tl.zeros((R,), tl.float32)
    total = tl.zeros((R, C), tl.float32)
    for start in range(0, n, C):
        v = tl.load(x + rows[:, None] * n + (start + cols)[None, :], mask=(start + cols)[None, :] < n, other=-1000.0)
        larger = tl.maximum(running, tl.max(v, axis=1))
        scale = tl.exp(running - larger)
        p = tl.exp(v - larger[:, None])
        weight = weight * scale + tl.sum(p, axis=1)
        total = total * scale[:, None] + p
        running = larger
    tl.store(y + rows[:, None] * C + cols[None, :], total / weight[:, None] + running[:, None])
)",
                                            {"x=f32[4,100]", "y=f32[4,64]", "n=100"});
  kernel.tolerance(20);
  kernel.check("C=32,R=4", {1, 1, 1});
  kernel.check("C=64,R=1", {1, 1, 1});
}

TEST(CodegenControl, SwapsAndShiftsCarriedTiles) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(x + B + i)
    for step in range(n):
        c = a + b
        a = b
        b = c
    tl.store(y + i, a)
    tl.store(y + B + i, b)
)",
                                            {"x=f32[64]", "y=f32[64]", "n=7"});
  kernel.check("B=32", {1, 1, 1});
}

TEST(CodegenControl, BranchesAndLeavesEarly) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    if pid * B >= n:
        return
    v = tl.load(x + i, mask=i < n, other=0.0)
    if pid % 2 == 0:
        w = v * 2.0
        k = 3
    else:
        w = v - 1.0
        k = pid
    tl.store(y + i, w * k, mask=i < n)
)",
                                            {"x=f32[100]", "y=f32[100]", "n=100"});
  kernel.check("B=32", {5, 1, 1});
}

TEST(CodegenControl, LoopsWhile) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.load(x + i)
    k = n
    while k > 1:
        acc = acc * 0.5 + 1.0
        k = k // 2
    tl.store(y + i, acc)
)",
                                            {"x=f32[48]", "y=f32[48]", "n=100"});
  kernel.check("B=16", {1, 1, 1});
}

TEST(CodegenControl, CountsDown) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in range(n, 0, -3):
        acc = acc * 0.5 + tl.load(x + i) * k
    tl.store(y + i, acc)
)",
                                            {"x=f32[64]", "y=f32[64]", "n=11"});
  kernel.check("B=64", {1, 1, 1});
}

TEST(CodegenControl, LoadsTheWholeTileBeforeStoring) {
  // Reversal and rotation in place: an element is overwritten by another lane before a naive loop would read
  // it.
  for (const std::string source : {"B - 1 - i", "(i + 5) % B"}) {
    auto kernel = GeneratedKernel::fromSource(fmt::format(R"(def kernel(x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + {})
    tl.store(x + i, v)
)",
                                                          source),
                                              {"x=f32[256]"});
    kernel.check("B=256", {1, 1, 1});
    kernel.check("B=64", {1, 1, 1});
  }
}

TEST(CodegenControl, KeepsLoadsFromBeforeAStore) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, v + 1.0)
    w = tl.load(x + i)
    tl.store(y + B + i, v + w)
    s = tl.load(x)
    tl.store(x + i, v * 2.0)
    tl.store(y + 2 * B + i, v + s)
)",
                                            {"x=f32[64]", "y=f32[192]"});
  kernel.check("B=64", {1, 1, 1});
  kernel.sameBuffer("x", "y");
  kernel.check("B=64", {1, 1, 1});
}

TEST(CodegenControl, KeepsLoadsFromBeforeALoopThatStores) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for k in range(n):
        w = tl.load(x + k * B + i)
        tl.store(x + k * B + i, v + w)
)",
                                            {"x=f32[256]", "n=4"});
  kernel.check("B=64", {1, 1, 1});
}

TEST(CodegenControl, UpdatesAtomically) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, c, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(y + v % 8, 1, mask=(i < n) & (v > 0))
    old = tl.atomic_max(c, tl.max(v, axis=0))
)",
                                            {"x=i32[100]", "y=i32[8]", "c=i32[1]", "n=100"});
  kernel.check("B=32", {4, 1, 1});
}

TEST(CodegenControl, ReportsTheFirstFailedAssertion) {
  auto kernel = GeneratedKernel(std::string(R"(kernel @kernel(%x: ptr<f32>, %n: i32 = n) {
  symbol pid: program_id
  %p = program_id {axis = 0} : i32 = pid
  %c = compare %p, %n {predicate = "lt"} : i1
  device_assert %c {message = "pid is small"}
  %v = cast %p : f32
  %q = addptr %x, %p : ptr<f32>
  store %q, %v
}
)"));
  kernel.buffer("x", DType::Float32, 4).scalar("n", 4);
  kernel.check("", {4, 1, 1});
  EXPECT_EQ(kernel.status(), 0);
}

} // namespace
} // namespace tilewright::cpu
