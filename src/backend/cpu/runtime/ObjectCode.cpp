#include "ObjectCodeFormat.h"

#include "tilewright/support/Hash.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace tilewright::cpu {

namespace {
constexpr std::string_view kMagic = "TWCPU1\n";
}

std::string ObjectCode::digest() const {
  ContentHasher hasher;
  hasher.add(object).add(entry).add(std::to_string(scratchBytes)).add(std::to_string(threads));
  for (const auto &assertion : assertions)
    hasher.add(assertion);
  return hasher.digest();
}

std::string encode(const ObjectCode &code) {
  nlohmann::json header = {{"entry", code.entry},           {"scratchBytes", code.scratchBytes},
                           {"assertions", code.assertions}, {"remarks", code.remarks},
                           {"threads", code.threads},       {"objectHash", contentHash(code.object)}};
  if (code.argumentCount)
    header["argumentCount"] = *code.argumentCount;
  const std::string text = header.dump();
  const auto length = static_cast<uint32_t>(text.size());
  std::string out(kMagic);
  out.append(reinterpret_cast<const char *>(&length), sizeof length);
  out += text;
  out += code.object;
  return out;
}

Expected<ObjectCode> decodeObjectCode(std::string_view bytes) {
  const auto damaged = [](const char *why) {
    return fail(ErrorKind::Unavailable, "compile.failed",
                std::string("compiled code cannot be read: ") + why);
  };
  uint32_t length = 0;
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + sizeof length)
    return damaged("it does not start with the format's mark");
  bytes.remove_prefix(kMagic.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  if (bytes.size() < length)
    return damaged("it is cut short");
  const auto header = nlohmann::json::parse(bytes.substr(0, length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return damaged("its header is not JSON");
  ObjectCode code;
  code.object = bytes.substr(length);
  try {
    code.entry = header.at("entry").get<std::string>();
    code.scratchBytes = header.at("scratchBytes").get<int64_t>();
    code.assertions = header.at("assertions").get<std::vector<std::string>>();
    code.remarks = header.at("remarks").get<std::vector<std::string>>();
    if (header.contains("argumentCount"))
      code.argumentCount = header["argumentCount"].get<uint32_t>();
    code.threads = header.at("threads").get<uint32_t>();
    if (header.at("objectHash").get<std::string>() != contentHash(code.object))
      return damaged("its content does not match its hash");
  } catch (const nlohmann::json::exception &) {
    return damaged("its header lacks a field");
  }
  return code;
}

} // namespace tilewright::cpu
