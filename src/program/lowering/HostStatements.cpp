// What runs while a kernel is compiled: @triton.constexpr_function, and the functions behind a file's
// globals. All values are known, so statements are simply carried out, with a bound on how many.
#include "FunctionLowerer.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

using namespace lang;

namespace {
constexpr uint32_t kMaxHostIterations = 10'000;
}

FunctionLowerer::Flow FunctionLowerer::hostStatement(const Stmt *stmt, const Continuation *rest) {
  const auto countIteration = [&] {
    if (++c.unrolled > kMaxHostIterations)
      c.fail(stmt->range, "lower.limit",
             fmt::format("more than {} iterations while the kernel is compiled", kMaxHostIterations));
  };
  switch (stmt->kind) {
  case StmtKind::For: {
    const auto *loop = cast<For>(stmt);
    const FrontValue items = eval(loop->iter);
    if (!items.is(FrontKind::Tuple))
      c.unsupported(loop->iter->range, fmt::format("cannot go through {}", describe(items)));
    for (const FrontValue &item : *items.items) {
      countIteration();
      assign(loop->target, item);
      const Flow flow = block(loop->body, nullptr);
      if (flow == Flow::Broke)
        return Flow::Next;
      if (flow == Flow::Returned)
        return flow;
    }
    return block(loop->orelse, rest);
  }
  case StmtKind::While: {
    const auto *loop = cast<While>(stmt);
    while (c.truth(eval(loop->test), loop->test->range)) {
      countIteration();
      const Flow flow = block(loop->body, nullptr);
      if (flow == Flow::Broke)
        return Flow::Next;
      if (flow == Flow::Returned)
        return flow;
    }
    return block(loop->orelse, rest);
  }
  case StmtKind::Break:
    return Flow::Broke;
  case StmtKind::Continue:
    return Flow::Continued;
  case StmtKind::Try: {
    const auto *attempt = cast<Try>(stmt);
    const Scope before = scope_;
    Flow flow = Flow::Next;
    try {
      flow = block(attempt->body, nullptr);
      if (flow == Flow::Next)
        flow = block(attempt->orelse, nullptr);
    } catch (const LoweringFailure &) {
      if (attempt->handlers.empty())
        throw;
      scope_ = before;
      flow = block(attempt->handlers[0]->body, nullptr);
    }
    const Flow last = block(attempt->finalbody, nullptr);
    return last == Flow::Next ? flow : last;
  }
  case StmtKind::Assert: {
    const auto *assertion = cast<Assert>(stmt);
    if (!c.truth(eval(assertion->test), assertion->test->range))
      c.fail(stmt->range, "static_assert",
             fmt::format("assertion failed: {}", assertion->test->range.text()));
    return Flow::Next;
  }
  case StmtKind::Import:
    for (const Alias *alias : cast<Import>(stmt)->names) {
      const std::string path(alias->name);
      const std::string root = path.substr(0, path.find('.'));
      const std::string &bound = alias->asname.empty() ? root : path;
      define(alias->asname.empty() ? std::string_view(root) : alias->asname,
             valueOfMeaning(names_.import(bound), bound, alias->range));
    }
    return Flow::Next;
  case StmtKind::ImportFrom: {
    const auto *import = cast<ImportFrom>(stmt);
    const std::string base = std::string(import->level, '.') + std::string(import->module);
    for (const Alias *alias : import->names) {
      const std::string path =
          base + (base.empty() || base.back() == '.' ? "" : ".") + std::string(alias->name);
      const Meaning meaning = names_.import(path);
      if (meaning.kind == Meaning::Kind::External && path.substr(0, 6) == "triton" && !knownToTriton(path))
        c.unsupported(alias->range, fmt::format("cannot import name '{}'", alias->name));
      define(alias->asname.empty() ? alias->name : alias->asname,
             valueOfMeaning(meaning, path, alias->range));
    }
    return Flow::Next;
  }
  default:
    return deviceStatement(stmt, rest);
  }
}

} // namespace tilewright::lowering
