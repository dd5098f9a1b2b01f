// tilewright-ast-dump: prints the syntax tree of Python files as CPython's `ast.dump` does. It is the oracle
// test's counterpart (tests/python/test_parser_oracle.py) and handy when a kernel is not understood.
//
//   tilewright-ast-dump [--attributes] [--python 3.11] FILE...    one dump a line, errors on standard error
//   tilewright-ast-dump [...] --batch                             file names on standard input, one a line;
//   for each
//                                                                 "ok N" or "error N" and N bytes and a line
//                                                                 break
#include "tilewright/lang/Dump.h"
#include "tilewright/lang/Parser.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace tilewright;

namespace {

struct Options {
  bool attributes = false;
  bool batch = false;
  lang::PythonVersion version = lang::PythonVersion::V311;
  std::vector<std::string> files;
};

int usage() {
  std::fprintf(stderr,
               "usage: tilewright-ast-dump [--attributes] [--python 3.9..3.13] (--batch | FILE...)\n");
  return 2;
}

struct Outcome {
  bool ok = false;
  std::string text;
};

Outcome dumpFile(const std::string &path, const Options &options) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return {false, path + ": cannot be read\n"};
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto module = lang::parse(std::make_shared<const SourceFile>(path, std::move(text)));
  if (!module)
    return {false, render(module.error())};
  return {true, lang::dump(*module, options.attributes, options.version)};
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--attributes") {
      options.attributes = true;
    } else if (argument == "--batch") {
      options.batch = true;
    } else if (argument == "--python" && i + 1 < argc) {
      int minor = 0;
      if (std::sscanf(argv[++i], "3.%d", &minor) != 1 || minor < 9 || minor > 13)
        return usage();
      options.version = static_cast<lang::PythonVersion>(minor - 9);
    } else if (argument.starts_with("-")) {
      return usage();
    } else {
      options.files.emplace_back(argument);
    }
  }
  if (options.batch == !options.files.empty())
    return usage();
  int status = 0;
  if (options.batch) {
    std::ios::sync_with_stdio(false);
    for (std::string path; std::getline(std::cin, path);) {
      const Outcome outcome = dumpFile(path, options);
      std::cout << (outcome.ok ? "ok " : "error ") << outcome.text.size() << '\n'
                << outcome.text << '\n'
                << std::flush;
    }
    return 0;
  }
  for (const std::string &path : options.files) {
    const Outcome outcome = dumpFile(path, options);
    std::fprintf(outcome.ok ? stdout : stderr, "%s%s", outcome.text.c_str(), outcome.ok ? "\n" : "");
    status |= outcome.ok ? 0 : 1;
  }
  return status;
}
