#include "tilewright/backend/LoadBackend.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilewright;
using testing::HasSubstr;

namespace {

/// A folder with one file named like a plugin; named in TILEWRIGHT_PLUGINS for the test's life.
class PluginFolder {
public:
  PluginFolder(std::string_view backend, std::string_view content) {
    folder_ = std::filesystem::temp_directory_path() / ("tilewright-plugins-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / ("libtilewright_" + std::string(backend) + ".so")) << content;
    setenv("TILEWRIGHT_PLUGINS", folder_.c_str(), 1);
  }
  ~PluginFolder() {
    unsetenv("TILEWRIGHT_PLUGINS");
    std::filesystem::remove_all(folder_);
  }

private:
  std::filesystem::path folder_;
};

} // namespace

TEST(LoadBackend, ABackEndThatIsNotInstalledSaysWhereItWasSoughtAndWhatToInstall) {
  const auto backend = loadBackend("abacus");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(backend.error().code, "target.unavailable");
  EXPECT_THAT(render(backend.error()), testing::AllOf(HasSubstr("libtilewright_abacus.so"),
                                                      HasSubstr("help: "), HasSubstr("libmlir-22")));
}

TEST(LoadBackend, AFileThatIsNoLibraryIsAPlainError) {
  const PluginFolder folder("slate", "not a shared object");
  const auto backend = loadBackend("slate");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, "target.unavailable");
  EXPECT_THAT(backend.error().message, HasSubstr("cannot be loaded"));
}
