#include "Call.h"

#include "tilewright/support/Files.h"

#include <cstdio>
#include <fmt/format.h>

namespace tilewright::cli {

void Call::addKernel(CLI::App &app, bool required) {
  app.add_option("kernel", kernel, "FILE[:KERNEL]: a Python file with Triton kernels (read, never executed)")
      ->required(required);
}

void Call::addLaunch(CLI::App &app) {
  app.add_option("-a,--arg", arguments,
                 "An argument: n=98432, eps=1e-6, x=f32[98432], w=bf16[4096,1024], idx=i64[1000]:0..4095, "
                 "y=None, FLAG=true")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option(
      "-g,--grid", grid,
      "The launch grid: a Python expression over arguments and open parameters, \"(cdiv(n, BLOCK),)\"");
  app.add_option("--key", key, "Arguments of the tuning key, separated by commas (default: all sizes)");
}

void Call::addTarget(CLI::App &app) {
  app.add_option("--target", target, "A name from 'tilewright targets', or a device description (JSON)")
      ->capture_default_str();
}

void Call::addHints(CLI::App &app) {
  app.add_option("--hint", hints,
                 "Further values to try: GROUP_SIZE_M=1,2,4,8; or what the caller computes: "
                 "\"companions.n_blocks=cdiv(n, BLOCK)\" (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
}

void Call::addConfigs(CLI::App &app) {
  addHints(app);
  app.add_option("-c,--config", configs, "A hand-written configuration: BLOCK_M=64,num_warps=4 (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--config-file", configFile, "A JSON list of configurations");
  app.add_flag("--only-configs", onlyConfigs, "Generate nothing; judge the given configurations only");
}

void Call::addJson(CLI::App &app) {
  app.add_flag("--json", json, "One JSON object on standard output, nothing else");
}

void Call::addStore(CLI::App &app) {
  app.add_option("--store", storePath,
                 "Where results are remembered (default: $TILEWRIGHT_STORE or ~/.cache/tilewright/store.db)");
}

std::string Call::file() const {
  const size_t colon = kernel.rfind(':');
  return colon == std::string::npos || colon == 0 ? kernel : kernel.substr(0, colon);
}

std::string Call::kernelName() const {
  const size_t colon = kernel.rfind(':');
  return colon == std::string::npos || colon == 0 ? std::string() : kernel.substr(colon + 1);
}

Expected<Kernel> Call::load() const { return Kernel::load(file(), kernelName()); }

namespace {

std::vector<std::string> splitCommas(const std::string &text) {
  std::vector<std::string> out;
  size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin)
      out.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return out;
}

Expected<ConfigValue> jsonValue(const nlohmann::json &value, const std::string &where) {
  if (value.is_boolean())
    return ConfigValue(value.get<bool>());
  if (value.is_number_integer())
    return ConfigValue(value.get<int64_t>());
  if (value.is_number_float())
    return ConfigValue(value.get<double>());
  if (value.is_string())
    return ConfigValue(value.get<std::string>());
  return fail(ErrorKind::User, "arg.syntax",
              fmt::format("{}: a number, a boolean or text is expected, not {}", where, value.dump()));
}

Expected<std::vector<Config>> readConfigFile(const std::string &path) {
  TW_TRY(const std::string text, readFile(path));
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array())
    return fail(ErrorKind::User, "arg.syntax",
                fmt::format("{} is not a JSON list of objects such as [{{\"BLOCK\": 128}}]", path));
  std::vector<Config> out;
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_object())
      return fail(ErrorKind::User, "arg.syntax", fmt::format("{}: entry {} is not an object", path, i));
    Config config;
    for (const auto &[name, value] : json[i].items()) {
      TW_TRY(ConfigValue read, jsonValue(value, fmt::format("{}: entry {}, {}", path, i, name)));
      config.set(name, std::move(read));
    }
    out.push_back(std::move(config));
  }
  return out;
}

} // namespace

Expected<Problem> Call::problem() const {
  Problem out;
  for (const auto &text : arguments) {
    TW_TRY(Argument argument, parseArgument(text));
    if (out.arguments.find(argument.name))
      return fail(ErrorKind::User, "arg.syntax",
                  fmt::format("the argument '{}' is given twice", argument.name));
    out.arguments.values.push_back(std::move(argument));
  }
  out.grid = grid;
  out.key = splitCommas(key);
  out.target = target;
  for (const auto &text : hints) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return fail(ErrorKind::User, "arg.syntax", fmt::format("--hint {}: NAME=v1,v2 is expected", text));
    if (constexpr std::string_view kCompanions = "companions."; text.starts_with(kCompanions)) {
      out.hints.companions[text.substr(kCompanions.size(), equals - kCompanions.size())] =
          text.substr(equals + 1);
      continue;
    }
    std::vector<ConfigValue> values;
    for (const auto &item : splitCommas(text.substr(equals + 1))) {
      TW_TRY(const Config one, Config::parse("x=" + item));
      values.push_back(*one.find("x"));
    }
    out.hints.values[text.substr(0, equals)] = std::move(values);
  }
  for (const auto &text : configs) {
    TW_TRY(Config config, Config::parse(text));
    out.configs.push_back(std::move(config));
  }
  if (!configFile.empty()) {
    TW_TRY(const auto more, readConfigFile(configFile));
    out.configs.insert(out.configs.end(), more.begin(), more.end());
  }
  out.onlyConfigs = onlyConfigs;
  if (onlyConfigs && out.configs.empty())
    return fail(ErrorKind::User, "arg.missing", "--only-configs needs at least one -c or a --config-file");
  return out;
}

Expected<std::shared_ptr<store::Store>> Call::openStore() const {
  store::StoreOptions options;
  options.path = storePath;
  return store::Store::open(options);
}

int report(const Error &error, bool json) {
  std::fputs(render(error).c_str(), stderr);
  if (json)
    fmt::print("{}\n", nlohmann::json{{"error", toJson(error)}}.dump());
  if (error.kind == ErrorKind::Unavailable)
    return kNotAvailable;
  const std::string_view code = error.code;
  const bool wrongCall = code.starts_with("arg.") || code.starts_with("hint.") || code == "grid.missing" ||
                         code == "grid.syntax" || code == "target.unknown" || code == "io.read" ||
                         code == "lower.no-kernel";
  return wrongCall ? kWrongCall : kWorkFailed;
}

nlohmann::json toJson(const Config &config) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto &[name, value] : config.values())
    std::visit([&](const auto &each) { out[name] = each; }, value);
  return out;
}

nlohmann::json toJson(const Diagnostic &diagnostic) {
  nlohmann::json out{{"severity", severityName(diagnostic.severity)},
                     {"code", diagnostic.code},
                     {"text", diagnostic.message}};
  if (diagnostic.location) {
    out["file"] = diagnostic.location->path;
    out["line"] = diagnostic.location->line;
    out["column"] = diagnostic.location->column + 1;
  }
  for (const auto &attached : diagnostic.attached)
    out["notes"].push_back(toJson(attached));
  return out;
}

nlohmann::json toJson(const Error &error) {
  nlohmann::json out{{"code", error.code}, {"text", error.message}, {"diagnostics", nlohmann::json::array()}};
  for (const auto &diagnostic : error.diagnostics)
    out["diagnostics"].push_back(toJson(diagnostic));
  return out;
}

std::string humanTime(double ns) {
  if (ns < 1e3)
    return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6)
    return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9)
    return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool number =
          !row[i].empty() && (std::isdigit(static_cast<unsigned char>(row[i][0])) || row[i][0] == '-');
      line +=
          number ? fmt::format("  {:>{}}", row[i], widths[i]) : fmt::format("  {:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

} // namespace tilewright::cli
