#pragma once
#include "tilewright/tilewright.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tilewright::cli {

/// Exit codes, a contract (docs/cli.md).
enum ExitCode : int { kDone = 0, kWorkFailed = 1, kWrongCall = 2, kNotAvailable = 3 };

/// What the commands that speak of one kernel and one launch have in common.
struct Call {
  std::string kernel; ///< FILE[:KERNEL]
  std::vector<std::string> arguments;
  std::string grid;
  std::string key;
  std::string target = "cpu";
  std::vector<std::string> hints;
  std::vector<std::string> configs;
  std::string configFile;
  bool onlyConfigs = false;
  bool json = false;
  std::string storePath;

  void addKernel(CLI::App &app, bool required = true);
  void addLaunch(CLI::App &app);
  void addTarget(CLI::App &app);
  void addHints(CLI::App &app);
  void addConfigs(CLI::App &app);
  void addJson(CLI::App &app);
  void addStore(CLI::App &app);

  std::string file() const;
  std::string kernelName() const; ///< empty when not given
  Expected<Kernel> load() const;
  Expected<Problem> problem() const;
  Expected<std::shared_ptr<store::Store>> openStore() const;
};

/// Prints the error (to standard error, and as JSON to standard output when asked) and returns the exit code
/// it means.
int report(const Error &error, bool json);

nlohmann::json toJson(const Config &config);
nlohmann::json toJson(const Diagnostic &diagnostic);
nlohmann::json toJson(const Error &error);
/// "812 ns", "12.3 us", "4.56 ms", "1.2 s".
std::string humanTime(double ns);

/// Rows of cells as aligned columns; the first row is the heading. Numbers (cells that start with a digit) go
/// to the right.
std::string table(const std::vector<std::vector<std::string>> &rows);

int analyzeCommand(const Call &call);
int candidatesCommand(const Call &call, bool all, bool jsonLines);
struct TuneCall {
  double budgetSeconds = 0;
  std::string method;
  uint32_t threads = 0;
  size_t keep = 0;
  bool again = false;
  bool exhaustive = false;
};
int tuneCommand(const Call &call, const TuneCall &tune);
int runCommand(const Call &call, const std::string &check);
int explainCommand(const Call &call, bool last, const std::string &candidate);
struct StoreCall {
  std::string action;
  std::string file;
  double olderThanDays = 0;
};
int storeCommand(const Call &call, const StoreCall &store);
int targetsCommand(const Call &call);
int doctorCommand(const Call &call);

} // namespace tilewright::cli
