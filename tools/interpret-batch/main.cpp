// Runs many kernels in the interpreter in one process, for tests that compare results with Triton's own
// interpreter mode (tests/differential). One JSON object a line in, one a line out, in order:
//
//     {"file": "k.py", "kernel": "add", "grid": [4, 1, 1], "buffers": ["0000803f..."],
//      "arguments": [{"spec": "x=f32[64]", "buffer": 0, "offset": 0}, {"spec": "n=60"}, {"spec":
//      "BLOCK=16"}]}
//     {"buffers": ["0000803f..."]}   or   {"error": "k.py:3:9: error: ..."}
//
// Buffers are bytes in hex; `offset` is in bytes, so that arguments may overlap. A pointer argument reaches
// to the end of its buffer.
#include "tilewright/interp/Interpreter.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/program/Text.h"
#include "tilewright/support/Files.h"

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

using namespace tilewright;
using nlohmann::json;

namespace {

std::vector<std::byte> bytesOf(const std::string &hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return bytes;
}

std::string hexOf(std::span<const std::byte> bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (std::byte b : bytes)
    for (unsigned half : {std::to_integer<unsigned>(b) >> 4, std::to_integer<unsigned>(b) & 15})
      hex += "0123456789abcdef"[half];
  return hex;
}

class Batch {
public:
  Expected<json> run(const json &request) {
    TW_TRY(const lang::Module *module, moduleOf(request.at("file").get<std::string>()));
    std::vector<std::vector<std::byte>> buffers;
    for (const json &hex : request.at("buffers"))
      buffers.push_back(bytesOf(hex.get<std::string>()));
    LaunchArguments launch;
    std::vector<RuntimeArgument> runtime;
    for (const json &given : request.at("arguments")) {
      TW_TRY(Argument argument, parseArgument(given.at("spec").get<std::string>()));
      RuntimeArgument value{argument.name, {}, 0, 0};
      if (given.contains("buffer"))
        value.memory =
            std::span(buffers.at(given.at("buffer").get<size_t>())).subspan(given.value("offset", 0));
      else if (const auto *integer = std::get_if<int64_t>(&argument.value))
        value.integer = *integer;
      else if (const auto *number = std::get_if<double>(&argument.value))
        value.number = *number;
      else if (const auto *truth = std::get_if<bool>(&argument.value))
        value.integer = *truth;
      runtime.push_back(value);
      launch.set(argument.name, argument.value);
    }
    TW_TRY(const Program program, lower(*module, request.at("kernel").get<std::string>(), launch));
    TW_CHECK(verify(program));
    TW_CHECK(checkTextForm(program));
    InterpreterLimits limits;
    limits.checkSymbols = true;
    limits.maxOps = 10'000'000;
    TW_CHECK(interpret(program, {}, request.at("grid").get<std::array<int64_t, 3>>(), runtime, limits));
    json results = json::array();
    for (const auto &buffer : buffers)
      results.push_back(hexOf(buffer));
    return json{{"buffers", std::move(results)}};
  }

private:
  /// The text form is complete: what it says is what it was printed from.
  static Expected<void> checkTextForm(const Program &program) {
    const std::string text = print(program);
    TW_TRY(const Program again, readProgram(std::make_shared<const SourceFile>("printed.tw", text)));
    if (print(again) != text)
      return fail(ErrorKind::Internal, "internal", "the program's text reads back as another program");
    return {};
  }

  Expected<const lang::Module *> moduleOf(const std::string &path) {
    if (const auto known = modules_.find(path); known != modules_.end())
      return &known->second;
    TW_TRY(SourceFilePtr source, readSourceFile(path));
    TW_TRY(lang::Module module, lang::parse(source));
    return &modules_.emplace(path, std::move(module)).first->second;
  }

  std::map<std::string, lang::Module> modules_;
};

} // namespace

int main() {
  Batch batch;
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line, nullptr, false);
    if (request.is_discarded()) {
      std::cerr << "interpret-batch: a line is not JSON\n";
      return 2;
    }
    const auto result = batch.run(request);
    std::cout << (result ? *result : json{{"error", render(result.error())}}).dump() << std::endl;
  }
  return 0;
}
