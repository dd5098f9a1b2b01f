#pragma once
#include "tilewright/support/Diagnostic.h"

#include <tl/expected.hpp>

namespace tilewright {

/// Whose fault a failure is. It decides the exit code of the command line (User 1 or 2, Refusal 1,
/// Unavailable 3, Internal 1 with a reproducer).
enum class ErrorKind : uint8_t {
  User,        ///< the source, the arguments or the call are wrong
  Refusal,     ///< well-formed, but a limit or an unsupported construct stands in the way
  Unavailable, ///< a tool, a device or a file that is needed is not there
  Internal,    ///< our mistake
};

struct Error {
  ErrorKind kind = ErrorKind::User;
  std::string code; ///< from ReasonCodes.def
  std::string message;
  std::vector<Diagnostic> diagnostics; ///< with locations; may be empty

  Error() = default;
  Error(ErrorKind kind, std::string code, std::string message)
      : kind(kind), code(std::move(code)), message(std::move(message)) {}
  /// An error that is one diagnostic.
  Error(ErrorKind kind, Diagnostic diagnostic)
      : kind(kind), code(diagnostic.code), message(diagnostic.message), diagnostics{std::move(diagnostic)} {}
};
/// All diagnostics rendered, or "error: message [code]" when there are none.
std::string render(const Error &error);

/// Every fallible public function returns this; nothing throws across a module border.
template <class T> using Expected = tl::expected<T, Error>;
using Unexpected = tl::unexpected<Error>;

template <class... Args> Unexpected fail(Args &&...args) {
  return Unexpected(Error(std::forward<Args>(args)...));
}

} // namespace tilewright

/// `TW_TRY(auto x, f());` binds x to the value of f() or returns its error from the enclosing function.
#define TW_CONCAT_(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_(a, b)
#define TW_TRY_(tmp, decl, expr)                                                                             \
  auto tmp = (expr);                                                                                         \
  if (!tmp)                                                                                                  \
    return ::tl::unexpected(std::move(tmp).error());                                                         \
  decl = *std::move(tmp)
#define TW_TRY(decl, expr) TW_TRY_(TW_CONCAT(twTry_, __LINE__), decl, expr)
/// The same for functions that return Expected<void>.
#define TW_CHECK(expr)                                                                                       \
  do {                                                                                                       \
    if (auto twCheck_ = (expr); !twCheck_)                                                                   \
      return ::tl::unexpected(std::move(twCheck_).error());                                                  \
  } while (false)
