#include "Call.h"

#include <fmt/format.h>

using namespace tilewright;
using namespace tilewright::cli;

/// Runs the command that was named. CLI11 reports wrong calls by exceptions, which end here.
int main(int argc, char **argv) {
  CLI::App app{"Tilewright: finds good tile sizes for Triton kernels"};
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the work failed, 2 the call was wrong, 3 a target or tool is not available.\n"
      "Example: tilewright tune examples/vector_add.py:vector_add --target cpu -a x=f32[98432] -a "
      "y=f32[98432] \\\n"
      "           -a out=f32[98432] -a n_elements=98432 -g \"(cdiv(n_elements, BLOCK),)\"");
  Call call;
  int status = kDone;

  auto *analyze = app.add_subcommand("analyze", "What every parameter of a kernel means");
  call.addKernel(*analyze);
  call.addLaunch(*analyze);
  call.addHints(*analyze);
  call.addJson(*analyze);
  analyze->callback([&] { status = analyzeCommand(call); });

  bool all = false, jsonLines = false;
  auto *candidates =
      app.add_subcommand("candidates", "The configurations worth trying, and why the others are not");
  call.addKernel(*candidates);
  call.addTarget(*candidates);
  call.addLaunch(*candidates);
  call.addConfigs(*candidates);
  call.addJson(*candidates);
  candidates->add_flag("--all", all, "List every rejected configuration, not only counts");
  candidates->add_flag("--jsonl", jsonLines,
                       "One JSON object a line: first the summary, then the candidates");
  candidates->callback([&] { status = candidatesCommand(call, all, jsonLines); });

  TuneCall tuneCall;
  std::string budget;
  auto *tune = app.add_subcommand("tune", "Compile, check and measure the candidates; remember the best");
  call.addKernel(*tune);
  call.addTarget(*tune);
  call.addLaunch(*tune);
  call.addConfigs(*tune);
  call.addJson(*tune);
  call.addStore(*tune);
  tune->add_option("--budget", budget, "Stop after this long and keep the best so far: 10s, 500ms, 2m");
  tune->add_option("--method", tuneCall.method, "measured or simulated")
      ->check(CLI::IsMember({"measured", "simulated"}));
  tune->add_option("--threads", tuneCall.threads, "Compilations at a time (default: all cores)");
  tune->add_option("--keep", tuneCall.keep, "Measure only the first N of the ranked list (default: all)");
  tune->add_flag("--again", tuneCall.again, "Tune although a result is remembered");
  tune->add_flag("--exhaustive", tuneCall.exhaustive, "No candidate leaves the race early");
  tune->callback([&] {
    if (!budget.empty()) {
      double seconds = 0;
      size_t used = 0;
      try {
        seconds = std::stod(budget, &used);
      } catch (const std::exception &) {
        used = 0;
      }
      const std::string unit = budget.substr(used);
      const double factor = unit == "ms" ? 1e-3 : unit == "m" ? 60 : unit == "s" || unit.empty() ? 1 : 0;
      if (used == 0 || factor == 0 || seconds <= 0) {
        status =
            report(Error(ErrorKind::User, "arg.syntax",
                         fmt::format("--budget {}: a time such as 10s, 500ms or 2m is expected", budget)),
                   call.json);
        return;
      }
      tuneCall.budgetSeconds = seconds * factor;
    }
    status = tuneCommand(call, tuneCall);
  });

  std::string check;
  auto *run = app.add_subcommand("run", "Run one configuration on sample data");
  call.addKernel(*run);
  call.addTarget(*run);
  call.addLaunch(*run);
  call.addHints(*run);
  run->add_option("-c,--config", call.configs, "The configuration: BLOCK_M=64,BLOCK_N=32")
      ->allow_extra_args(false)
      ->take_all();
  run->add_option("--check", check, "Compare the results with another executor")
      ->check(CLI::IsMember({"interp"}));
  call.addJson(*run);
  run->callback([&] { status = runCommand(call, check); });

  bool last = false;
  std::string candidate;
  auto *explain = app.add_subcommand("explain", "Why a configuration was kept, dropped or chosen");
  call.addKernel(*explain, /*required=*/false);
  call.addTarget(*explain);
  call.addLaunch(*explain);
  call.addConfigs(*explain);
  call.addJson(*explain);
  call.addStore(*explain);
  explain->add_flag("--last", last, "The problem that was tuned last");
  explain->add_option("--candidate", candidate, "The configuration in question: NAME=VALUE,...");
  explain->callback([&] { status = explainCommand(call, last, candidate); });

  StoreCall storeCall;
  auto *store = app.add_subcommand("store", "What is remembered");
  store->require_subcommand(1);
  const auto storeAction = [&](const char *name, const char *text, const char *file) {
    auto *action = store->add_subcommand(name, text);
    call.addStore(*action);
    call.addJson(*action);
    if (file)
      action->add_option("file", storeCall.file, file)->required();
    action->callback([&, name] {
      storeCall.action = name;
      status = storeCommand(call, storeCall);
    });
    return action;
  };
  storeAction("list", "One line for each tuned problem", nullptr);
  storeAction("export", "Write everything as JSON", "The file to write");
  storeAction("import", "Add the records of an export", "The file to read");
  storeAction("merge", "Add the records of another store", "The other store");
  storeAction("verify", "Check the file for damage", nullptr);
  storeAction("gc", "Forget what is no longer needed", nullptr)
      ->add_option("--older-than-days", storeCall.olderThanDays, "Also problems unused for this many days");

  auto *targets = app.add_subcommand("targets", "Every device description, with units");
  call.addJson(*targets);
  targets->callback([&] { status = targetsCommand(call); });

  auto *doctor = app.add_subcommand("doctor", "What works on this machine and, for the rest, why not");
  call.addJson(*doctor);
  call.addStore(*doctor);
  doctor->callback([&] { status = doctorCommand(call); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    const int code = app.exit(error);
    return code == 0 ? kDone : kWrongCall;
  }
  return status;
}
