// Kernels whose names lead out of their file: helpers of the package, re-exports, conditional imports.
#include "LoweringFixture.h"

#include "tilewright/support/Files.h"

#include <filesystem>
#include <unistd.h>

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char *kImports = "import triton\nimport triton.language as tl\n";

/// A package on disk, gone at the end.
class PackageTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("tilewright-modules-" + std::to_string(getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void file(const std::string &path, const std::string &text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    ASSERT_TRUE(writeFile((folder_ / path).string(), text));
  }
  /// The text of kernel `k` of a file, or the rendered error.
  std::string lowered(const std::string &path, const std::string &kernel = "k") {
    auto source = readSourceFile((folder_ / path).string());
    if (!source)
      return render(source.error());
    auto module = lang::parse(*source);
    if (!module)
      return render(module.error());
    const auto program = lower(*module, kernel, {}, {});
    if (!program)
      return render(program.error());
    const auto verified = verify(*program);
    EXPECT_TRUE(verified) << (verified ? "" : render(verified.error()));
    return print(*program);
  }

private:
  std::filesystem::path folder_;
};

TEST_F(PackageTest, HelpersOfOtherFiles) {
  file("pkg/__init__.py", "");
  file("pkg/ops/__init__.py", "");
  file("pkg/ops/helpers.py", std::string(kImports) + "SCALE = tl.constexpr(3)\n"
                                                     "@triton.jit\n"
                                                     "def twice(x, by: tl.constexpr = SCALE):\n"
                                                     "    return x * by\n");
  file("pkg/ops/relative.py", std::string(kImports) + "from .helpers import twice as times\n"
                                                      "@triton.jit\n"
                                                      "def k(p):\n"
                                                      "    tl.store(p, times(tl.load(p)))\n");
  file("pkg/ops/absolute.py", std::string(kImports) + "import pkg.ops.helpers as h\n"
                                                      "@triton.jit\n"
                                                      "def k(p):\n"
                                                      "    tl.store(p, h.twice(tl.load(p)))\n");
  file("pkg/up.py", std::string(kImports) + "from pkg.ops import helpers\n"
                                            "@triton.jit\n"
                                            "def k(p):\n"
                                            "    tl.store(p, helpers.twice(tl.load(p), by=5))\n");
  EXPECT_THAT(lowered("pkg/ops/relative.py"), HasSubstr("constant {value = 3"));
  EXPECT_THAT(lowered("pkg/ops/absolute.py"), HasSubstr("constant {value = 3"));
  EXPECT_THAT(lowered("pkg/up.py"), HasSubstr("constant {value = 5"));
}

TEST_F(PackageTest, ReExportsStarsAndAliasesOfTriton) {
  file("pkg/__init__.py", "");
  file("pkg/compat/__init__.py", "from .language import tl, exp as fast_exp\nfrom .more import *\n");
  file("pkg/compat/language.py", "from triton import language as tl\nexp = tl.exp\n");
  file("pkg/compat/more.py", std::string(kImports) + "@triton.jit\ndef negate(x):\n    return -x\n");
  file("pkg/kernel.py", "import triton\nfrom pkg.compat import tl, fast_exp, negate\n"
                        "@triton.jit\ndef k(p):\n    tl.store(p, negate(fast_exp(tl.load(p))))\n");
  const std::string text = lowered("pkg/kernel.py");
  EXPECT_THAT(text, HasSubstr("exp"));
  EXPECT_THAT(text, HasSubstr("store"));
  EXPECT_THAT(text, Not(HasSubstr("error")));
}

TEST_F(PackageTest, LocationsNameTheFileOfTheHelper) {
  file("pkg/__init__.py", "");
  file("pkg/helpers.py", std::string(kImports) + "@triton.jit\ndef wrong(x):\n    return x + missing\n");
  file("pkg/kernel.py", std::string(kImports) +
                            "from .helpers import wrong\n"
                            "@triton.jit\ndef k(p):\n    tl.store(p, wrong(tl.load(p)))\n");
  const std::string text = lowered("pkg/kernel.py");
  EXPECT_THAT(text, HasSubstr("helpers.py:5:16: error: missing is not defined"));
  EXPECT_THAT(text, HasSubstr("in helper wrong called at line 6"));
}

TEST_F(PackageTest, ConditionsThatTheSourceDecides) {
  file("kernel.py", std::string(kImports) + "import os\n"
                                            "if os.environ.get('FAST', '0') == '1':\n"
                                            "    N = tl.constexpr(1)\n"
                                            "else:\n"
                                            "    N = tl.constexpr(2)\n"
                                            "if hasattr(tl, 'no_such_function'):\n"
                                            "    M = tl.constexpr(4)\n"
                                            "elif hasattr(tl, 'make_tensor_descriptor'):\n"
                                            "    M = tl.constexpr(8)\n"
                                            "else:\n"
                                            "    M = tl.constexpr(16)\n"
                                            "@triton.jit\ndef k(p):\n    tl.store(p, N * 100 + M)\n");
  EXPECT_THAT(lowered("kernel.py"), HasSubstr("constant {value = 208"));
}

TEST_F(PackageTest, OfAlternativesTheReadableOneCounts) {
  file("kernel.py", std::string(kImports) +
                        "try:\n"
                        "    from vendor import math as shim\n"
                        "    shim = shim.load()\n"
                        "except ImportError:\n"
                        "    shim = triton.language.math\n"
                        "@triton.jit\ndef k(p):\n    tl.store(p, shim.exp(tl.load(p)))\n");
  EXPECT_THAT(lowered("kernel.py"), HasSubstr("exp"));
}

TEST_F(PackageTest, CirclesOfImportsEnd) {
  file("pkg/__init__.py", "");
  file("pkg/a.py", "from .b import x\ny = x\n");
  file("pkg/b.py", "from .a import y\nx = y\n");
  file("pkg/kernel.py",
       std::string(kImports) + "from .a import y\n@triton.jit\ndef k(p):\n    tl.store(p, y)\n");
  EXPECT_THAT(lowered("pkg/kernel.py"), HasSubstr("error"));
}

TEST_F(PackageTest, MissingFilesAreForeign) {
  file("kernel.py",
       std::string(kImports) + "from .nowhere import f\n@triton.jit\ndef k(p):\n    tl.store(p, f(1))\n");
  EXPECT_THAT(lowered("kernel.py"), HasSubstr("'f' is not a @triton.jit function that can be read"));
}

TEST(LoweringModules, KernelsMadeByCallsClassesAndFunctions) {
  const std::string body =
      "def f(p):\n    tl.store(p, 1.0)\n"
      "made = triton.jit(f)\n"
      "class Ops:\n"
      "    @staticmethod\n    @triton.jit\n    def inside(p):\n        tl.store(p, 2.0)\n"
      "def maker():\n    @triton.jit\n    def nested(p):\n        tl.store(p, 3.0)\n    return nested\n";
  EXPECT_THAT(test::textOf(test::lowerSource(body, {}, {}, "made")), HasSubstr("store"));
  EXPECT_THAT(test::textOf(test::lowerSource(body, {}, {}, "Ops.inside")), HasSubstr("store"));
  EXPECT_THAT(test::textOf(test::lowerSource(body, {}, {}, "maker.nested")), HasSubstr("store"));
  EXPECT_THAT(test::textOf(test::lowerSource(body, {}, {}, "nested@13")), HasSubstr("store"));
}

TEST(LoweringModules, ArgumentsOfTheFunctionAroundAreUnknown) {
  const auto lowered = test::lowerSource(
      "def maker(n):\n    @triton.jit\n    def k(p):\n        tl.store(p, n)\n", {}, {}, "maker.k");
  ASSERT_FALSE(lowered.program);
  EXPECT_THAT(render(lowered.program.error()),
              HasSubstr("n is an argument of the function around the kernel"));
}

} // namespace
} // namespace tilewright
