#pragma once
#include "tilewright/support/Expected.h"

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>

namespace tilewright {

/// Reads typed fields of one JSON object of a device description and remembers the first thing that is wrong,
/// with the field's full name ("memory[2].bytes") and, where the text shows it, its line. After an error
/// every read is a no-op, so callers read everything and ask once.
class DescriptionReader {
public:
  DescriptionReader(const nlohmann::json &object, std::string_view text, std::string_view origin,
                    std::string prefix = {})
      : object_(object), text_(text), origin_(origin), prefix_(std::move(prefix)) {}

  void read(const char *field, std::string &into);
  void read(const char *field, bool &into);
  void read(const char *field, int64_t &into, int64_t least);
  void read(const char *field, double &into);
  void read(const char *field, std::array<int64_t, 3> &into);
  /// {"1": 100.9, "48": 33.7}
  void readCurve(const char *field, std::map<int64_t, double> &into);

  /// Fields that nobody knows are mistakes: a misspelt limit must not vanish.
  void allowOnly(std::initializer_list<std::string_view> fields);
  void fail(const std::string &field, const std::string &what);

  const nlohmann::json *find(const char *field) const;
  std::string path(const std::string &field) const { return prefix_ + field; }
  DescriptionReader inside(const nlohmann::json &object, std::string prefix) const {
    return DescriptionReader(object, text_, origin_, std::move(prefix));
  }
  void adopt(const DescriptionReader &inner) {
    if (!error_)
      error_ = inner.error_;
  }
  const std::optional<Error> &error() const { return error_; }

private:
  uint32_t lineOf(const std::string &field) const;

  const nlohmann::json &object_;
  std::string_view text_;
  std::string_view origin_;
  std::string prefix_;
  std::optional<Error> error_;
};

} // namespace tilewright
