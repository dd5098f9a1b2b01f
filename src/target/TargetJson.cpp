#include "DescriptionReader.h"
#include "DeviceFolder.h"

#include "tilewright/support/Files.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

using nlohmann::json;

constexpr int kMaxBases = 8; ///< a longer chain of based_on is a cycle

Expected<Target> readWithDepth(std::string_view text, std::string_view origin, int depth);

/// Where a base comes from: the probed machine or another description.
Expected<Target> readBase(const std::string &base, std::string_view origin, int depth,
                          DescriptionReader &reader) {
  if (base == "cpu")
    return probeCpu();
  const std::string file = descriptionFile(base, origin);
  if (file.empty() || depth >= kMaxBases) {
    reader.fail("based_on", depth >= kMaxBases
                                ? "never ends: the descriptions are based on each other"
                                : fmt::format("names '{}', of which there is no description", base));
    return Unexpected(*reader.error());
  }
  TW_TRY(const std::string text, readFile(file));
  return readWithDepth(text, file, depth + 1);
}

void readMemory(DescriptionReader &reader, const json &list, std::vector<MemorySpace> &memory) {
  if (!list.is_array())
    return reader.fail("memory", "must be a list of memory spaces");
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string prefix = fmt::format("memory[{}].", i);
    if (!list[i].is_object())
      return reader.fail(fmt::format("memory[{}]", i), "must be an object");
    DescriptionReader inner = reader.inside(list[i], prefix);
    inner.allowOnly({"name", "bytes", "alignment_bytes", "read_bytes_per_ns", "write_bytes_per_ns",
                     "read_bytes_per_ns_by_active_cores", "source"});
    std::string name;
    inner.read("name", name);
    if (name.empty())
      inner.fail("name", "is missing");
    auto space = std::find_if(memory.begin(), memory.end(),
                              [&](const MemorySpace &each) { return each.name == name; });
    if (space == memory.end())
      space = memory.insert(memory.end(), MemorySpace{.name = name});
    inner.read("bytes", space->bytes, 0);
    inner.read("alignment_bytes", space->alignmentBytes, 1);
    inner.read("read_bytes_per_ns", space->readBytesPerNs);
    inner.read("write_bytes_per_ns", space->writeBytesPerNs);
    inner.readCurve("read_bytes_per_ns_by_active_cores", space->readByActiveCores);
    inner.read("source", space->source);
    if (space->source.empty())
      inner.fail("source", "is missing: say where the numbers come from");
    reader.adopt(inner);
  }
}

void readRates(DescriptionReader &reader, const json &object, std::map<std::string, Sourced> &rates) {
  if (!object.is_object())
    return reader.fail("rates", "must be an object of {\"value\": ..., \"source\": ...}");
  for (const auto &[name, value] : object.items()) {
    if (!value.is_object())
      return reader.fail("rates." + name, "must be {\"value\": ..., \"source\": ...}");
    DescriptionReader inner = reader.inside(value, "rates." + name + ".");
    inner.allowOnly({"value", "source"});
    Sourced rate;
    if (!inner.find("value"))
      inner.fail("value", "is missing");
    inner.read("value", rate.value);
    inner.read("source", rate.source);
    if (rate.source.empty())
      inner.fail("source", "is missing: say where the number comes from");
    rates[name] = std::move(rate);
    reader.adopt(inner);
  }
}

Expected<Target> readWithDepth(std::string_view text, std::string_view origin, int depth) {
  const json object = json::parse(text, nullptr, false, true);
  if (object.is_discarded()) {
    std::string why = "the text ends early";
    uint32_t line = 0;
    try { // only to learn where; nothing leaves this function as an exception
      const json never = json::parse(text);
      (void)never;
    } catch (const json::parse_error &error) {
      why = error.what();
      if (const size_t cut = why.find("] "); cut != std::string::npos)
        why = why.substr(cut + 2);
      const size_t end = std::min(text.size(), error.byte ? error.byte - 1 : 0);
      line = static_cast<uint32_t>(
          1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\n'));
    }
    return fail(ErrorKind::User, "target.description",
                fmt::format("{}:{}: not valid JSON: {}", origin, line, why));
  }
  if (!object.is_object())
    return fail(ErrorKind::User, "target.description",
                fmt::format("{}: a device description is a JSON object", origin));

  DescriptionReader reader(object, text, origin);
  reader.allowOnly({"name", "based_on", "kind", "description", "cores", "cube_cores", "max_programs",
                    "max_grid", "clock_ghz", "vector_bytes", "power_of_two_tiles", "fingerprint", "memory",
                    "rates"});
  Target out;
  std::string base;
  reader.read("based_on", base);
  if (!base.empty()) {
    TW_TRY(out, readBase(base, origin, depth, reader));
    if (!reader.find("name"))
      reader.fail("name", "is missing");
  }
  const std::string baseFingerprint = std::exchange(out.fingerprint, {});
  reader.read("name", out.name);
  if (out.name.empty())
    reader.fail("name", "is missing");

  std::string kind;
  reader.read("kind", kind);
  if (kind == "cpu" || kind == "ascend" || kind == "cuda")
    out.kind = kind == "cpu" ? TargetKind::Cpu : kind == "ascend" ? TargetKind::Ascend : TargetKind::Cuda;
  else if (!kind.empty() || base.empty())
    reader.fail("kind", fmt::format("must be cpu, ascend or cuda, not '{}'", kind));

  reader.read("description", out.description);
  reader.read("cores", out.cores, 1);
  reader.read("cube_cores", out.cubeCores, 0);
  reader.read("max_programs", out.maxPrograms, 1);
  reader.read("max_grid", out.maxGrid);
  reader.read("clock_ghz", out.clockGhz);
  reader.read("vector_bytes", out.vectorBytes, 1);
  reader.read("power_of_two_tiles", out.powerOfTwoTiles);
  reader.read("fingerprint", out.fingerprint);
  if (const json *memory = reader.find("memory"))
    readMemory(reader, *memory, out.memory);
  if (const json *rates = reader.find("rates"))
    readRates(reader, *rates, out.rates);
  if (reader.error())
    return Unexpected(*reader.error());
  // A stored time depends on the chip, not on what we believe of it: a corrected rate must not orphan
  // records. The host CPU stays the host CPU when only its rates are overridden.
  if (out.fingerprint.empty())
    out.fingerprint = base == "cpu" ? baseFingerprint : fmt::format("{}:{}", name(out.kind), out.name);
  return out;
}

} // namespace

Expected<Target> readTarget(std::string_view text, std::string_view origin) {
  return readWithDepth(text, origin, 0);
}

std::string toJson(const Target &target) {
  json out{{"name", target.name},
           {"kind", std::string(name(target.kind))},
           {"description", target.description},
           {"fingerprint", target.fingerprint},
           {"cores", target.cores},
           {"max_programs", target.maxPrograms},
           {"max_grid", target.maxGrid},
           {"vector_bytes", target.vectorBytes},
           {"power_of_two_tiles", target.powerOfTwoTiles},
           {"memory", json::array()},
           {"rates", json::object()}};
  if (target.cubeCores)
    out["cube_cores"] = target.cubeCores;
  if (target.clockGhz > 0)
    out["clock_ghz"] = target.clockGhz;
  for (const auto &space : target.memory) {
    json each{{"name", space.name},
              {"bytes", space.bytes},
              {"alignment_bytes", space.alignmentBytes},
              {"source", space.source}};
    if (space.readBytesPerNs > 0)
      each["read_bytes_per_ns"] = space.readBytesPerNs;
    if (space.writeBytesPerNs > 0)
      each["write_bytes_per_ns"] = space.writeBytesPerNs;
    for (const auto &[cores, rate] : space.readByActiveCores)
      each["read_bytes_per_ns_by_active_cores"][fmt::format("{}", cores)] = rate;
    out["memory"].push_back(std::move(each));
  }
  for (const auto &[name, rate] : target.rates)
    out["rates"][name] = {{"value", rate.value}, {"source", rate.source}};
  return out.dump(2);
}

} // namespace tilewright
