// Lowers and analyses many kernels of many files, for measuring how much of the world's Triton the front end
// reads:
//
//     tilewright-corpus [--seconds N] [--mebibytes N] [--runs N] [--no-analysis] < LIST > RESULTS
//
// LIST has one file a line: its path, then the kernels as `name@line`, separated by tabs. RESULTS has one
// JSON object a line: one for each kernel and one for each file. A process of its own reads each file, with a
// bound on processor time and on memory, so that a crash or a hang costs that file's remaining kernels only;
// they are tried again, each in a process of its own, and what fails there is what is reported.
//
// `us` is the processor time of the fastest of three lowerings (--runs), with every imported file read
// before. `peakKiB` is what the file's process added to the memory it started with.
#include "tilewright/analysis/KernelFacts.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/program/Text.h"
#include "tilewright/support/Files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilewright;
using nlohmann::json;

namespace {

struct Bounds {
  uint64_t seconds = 20;
  uint64_t mebibytes = 1024;
  int runs = 3; ///< the fastest counts: what else the machine does is no property of the kernel
  bool analysis = true;
};

struct Task {
  std::string file;
  std::vector<std::string> kernels;
};

double microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

long peakKibibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void print(const json &object) {
  std::cout << object.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
}

json failureOf(const Error &error) {
  json out{{"status", error.kind == ErrorKind::Refusal ? "refused" : "error"},
           {"code", error.code},
           {"message", error.message}};
  if (!error.diagnostics.empty() && error.diagnostics[0].location) {
    const ResolvedLocation &where = *error.diagnostics[0].location;
    out["at"] = fmt::format("{}:{}:{}", where.path, where.line, where.column + 1);
    out["source"] = where.lineText;
  }
  return out;
}

std::string_view statusName(KernelFacts::Status status) {
  return status == KernelFacts::Status::Ok        ? "ok"
         : status == KernelFacts::Status::Partial ? "partial"
                                                  : "refused";
}

json lowered(const lang::Module &module, const std::string &kernel, const LoweringOptions &options,
             const Bounds &bounds) {
  json out{{"kernel", kernel}, {"file", module.source->path()}};
  double fastest = 0;
  for (int run = 0; run <= bounds.runs; ++run) {
    const double start = microseconds();
    auto program = lower(module, kernel, {}, options);
    const double spent = microseconds() - start;
    if (run > 0) // the first one reads imported files
      fastest = run == 1 ? spent : std::min(fastest, spent);
    if (run < bounds.runs && spent < 1e6)
      continue;
    out["us"] = run == 0 ? spent : fastest;
    if (!program) {
      out.update(failureOf(program.error()));
      return out;
    }
    out["ops"] = program->ops.size();
    out["status"] = "ok";
    for (const Diagnostic &remark : program->remarks)
      if (remark.code == "lower.assumed")
        out["assumed"].push_back(remark.message);
    if (auto verified = verify(*program); !verified) {
      out.update(failureOf(verified.error()));
      out["status"] = "crash"; // a Program that breaks its own rules is our mistake
      return out;
    }
    if (bounds.analysis) {
      const double before = microseconds();
      const KernelFacts facts = analyze(*program);
      out["analysis"] = statusName(facts.status);
      out["analysisUs"] = microseconds() - before;
    }
    return out;
  }
  return out;
}

/// The child's work; the order of output tells the parent how far it came.
void readFileAndKernels(const Task &task, const Bounds &bounds) {
  rlimit limit{bounds.seconds, bounds.seconds + 1};
  setrlimit(RLIMIT_CPU, &limit);
  limit = {bounds.mebibytes << 20, bounds.mebibytes << 20};
  setrlimit(RLIMIT_AS, &limit);
  const long startMemory = peakKibibytes();
  auto source = readSourceFile(task.file);
  if (!source) {
    for (const std::string &kernel : task.kernels) {
      json out = failureOf(source.error());
      out.update({{"kernel", kernel}, {"file", task.file}});
      print(out);
    }
    return;
  }
  const double start = microseconds();
  const auto [module, broken] = lang::parseTolerant(*source);
  const double parsed = microseconds() - start;
  LoweringOptions options;
  options.imports = makeImportedFiles();
  for (const std::string &kernel : task.kernels)
    print(lowered(module, kernel, options, bounds));
  print({{"file", task.file},
         {"parseUs", parsed},
         {"bytes", (*source)->text().size()},
         {"syntaxErrors", broken.size()},
         {"peakKiB", peakKibibytes() - startMemory}});
}

/// How a child ended, or empty when it did its work.
std::string outcome(int status) {
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? "hang" : "crash";
  return WEXITSTATUS(status) == 0 ? "" : "crash";
}

/// Runs one task in a child; returns the kernels that it did not get to, and how it ended.
std::pair<std::vector<std::string>, std::string> runTask(const Task &task, const Bounds &bounds) {
  int channel[2];
  if (pipe(channel) != 0)
    std::exit(1);
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    dup2(channel[1], STDOUT_FILENO);
    close(channel[0]);
    close(channel[1]);
    readFileAndKernels(task, bounds);
    std::_Exit(0);
  }
  close(channel[1]);
  std::string text;
  char buffer[1 << 16];
  for (ssize_t n; (n = read(channel[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  size_t done = 0;
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (end == text.size())
      break; // half a line, of a child that died
    done += text.compare(line, 11, "{\"analysis\"") == 0 ||
            text.substr(line, end - line).find("\"kernel\":") != std::string::npos;
    std::cout << std::string_view(text).substr(line, end - line + 1);
    line = end + 1;
  }
  done = std::min(done, task.kernels.size());
  return {{task.kernels.begin() + static_cast<std::ptrdiff_t>(done), task.kernels.end()}, outcome(status)};
}

} // namespace

int main(int argc, char **argv) {
  Bounds bounds;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-analysis") == 0)
      bounds.analysis = false;
    else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      bounds.seconds = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
      bounds.runs = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--mebibytes") == 0 && i + 1 < argc)
      bounds.mebibytes = std::strtoull(argv[++i], nullptr, 10);
    else {
      std::fprintf(
          stderr,
          "usage: tilewright-corpus [--seconds N] [--mebibytes N] [--runs N] [--no-analysis] < LIST\n");
      return 2;
    }
  }
  for (std::string line; std::getline(std::cin, line);) {
    Task task;
    size_t begin = 0;
    for (size_t end; begin <= line.size(); begin = end + 1) {
      end = std::min(line.find('\t', begin), line.size());
      (begin == 0 ? task.file : task.kernels.emplace_back()) = line.substr(begin, end - begin);
    }
    auto [left, how] = runTask(task, bounds);
    if (how.empty())
      continue;
    for (const std::string &kernel : left) {
      const auto [again, ending] = runTask({task.file, {kernel}}, bounds);
      if (!again.empty())
        print({{"kernel", kernel},
               {"file", task.file},
               {"status", ending},
               {"code", ending},
               {"message", ending == "hang"
                               ? fmt::format("not done after {} s", bounds.seconds)
                               : fmt::format("ended by itself ({} MiB allowed)", bounds.mebibytes)}});
    }
  }
  return 0;
}
