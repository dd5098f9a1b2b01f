#include "ModuleScope.h"

#include "AstWalk.h"

#include <array>

namespace tilewright::lowering {

using namespace lang;

namespace {

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool isJitDecorator(std::string_view path) {
  return path == "triton.jit" || path == "triton.runtime.jit" || path == "triton.runtime.jit.jit" ||
         path == "triton.runtime.driver.jit";
}

/// `tl.constexpr(...)`: what makes a global usable in a kernel.
bool isConstexprCall(const ModuleScope &scope, const Expr *value) {
  const auto *call = dynCast<Call>(value);
  return call && scope.resolve(call->func) == "triton.language.constexpr";
}

} // namespace

ModuleScope::ModuleScope(const Module &module) { collect(module.body); }

void ModuleScope::bind(std::string_view name, Binding binding) {
  names_.insert_or_assign(std::string(name), std::move(binding));
}

void ModuleScope::addFunction(const FunctionDef *def) {
  auto function = std::make_unique<JitFunction>();
  function->def = def;
  bool jit = false;
  for (const Expr *decorator : def->decoratorList) {
    const auto *call = dynCast<Call>(decorator);
    function->decorators.push_back(resolve(call ? call->func : decorator));
    jit |= isJitDecorator(function->decorators.back());
  }
  if (!jit) {
    bind(def->name, {Binding::Kind::Python, {}, nullptr, nullptr, def->range});
    return;
  }
  bind(def->name, {Binding::Kind::Jit, {}, nullptr, function.get(), def->range});
  functions_.push_back(std::move(function));
}

void ModuleScope::collect(Body body) {
  for (const Stmt *stmt : body) {
    switch (stmt->kind) {
    case StmtKind::Import:
      for (const Alias *alias : cast<Import>(stmt)->names) {
        const std::string path(alias->name);
        if (!alias->asname.empty())
          bind(alias->asname, {Binding::Kind::Import, path, nullptr, nullptr, alias->range});
        else if (const std::string root = path.substr(0, path.find('.'));
                 !find(root) || find(root)->kind != Binding::Kind::Import)
          bind(root, {Binding::Kind::Import, root, nullptr, nullptr, alias->range});
      }
      break;
    case StmtKind::ImportFrom: {
      const auto *import = cast<ImportFrom>(stmt);
      const std::string base = std::string(import->level, '.') + std::string(import->module);
      for (const Alias *alias : import->names)
        bind(alias->asname.empty() ? alias->name : alias->asname,
             {Binding::Kind::Import,
              base + (base.empty() || base.back() == '.' ? "" : ".") + std::string(alias->name), nullptr,
              nullptr, alias->range});
      break;
    }
    case StmtKind::FunctionDef:
      addFunction(cast<FunctionDef>(stmt));
      break;
    case StmtKind::ClassDef:
      bind(cast<ClassDef>(stmt)->name, {Binding::Kind::Python, {}, nullptr, nullptr, stmt->range});
      break;
    case StmtKind::Assign: {
      const auto *assign = cast<Assign>(stmt);
      const bool alias = !dottedName(assign->value).empty();
      for (const Expr *target : assign->targets)
        if (const auto *name = dynCast<Name>(target))
          bind(name->id, {alias || isConstexprCall(*this, assign->value) ? Binding::Kind::Constexpr
                                                                         : Binding::Kind::Plain,
                          {},
                          assign->value,
                          nullptr,
                          stmt->range});
      break;
    }
    case StmtKind::AnnAssign: {
      const auto *assign = cast<AnnAssign>(stmt);
      const auto *name = dynCast<Name>(assign->target);
      if (name && assign->value)
        bind(name->id, {resolve(assign->annotation) == "triton.language.constexpr" ||
                                isConstexprCall(*this, assign->value)
                            ? Binding::Kind::Constexpr
                            : Binding::Kind::Plain,
                        {},
                        assign->value,
                        nullptr,
                        stmt->range});
      break;
    }
    // Of alternatives, the first one is what the file is written for: it is collected last, so it wins.
    case StmtKind::If:
      collect(cast<If>(stmt)->orelse);
      collect(cast<If>(stmt)->body);
      break;
    case StmtKind::Try:
      for (const ExceptHandler *handler : cast<Try>(stmt)->handlers)
        collect(handler->body);
      collect(cast<Try>(stmt)->body);
      collect(cast<Try>(stmt)->orelse);
      collect(cast<Try>(stmt)->finalbody);
      break;
    case StmtKind::With:
      collect(cast<With>(stmt)->body);
      break;
    default:
      break;
    }
  }
}

const ModuleScope::Binding *ModuleScope::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

const JitFunction *ModuleScope::function(std::string_view name) const {
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    for (const auto &function : functions_)
      if (function->def->name == name.substr(0, at) &&
          std::to_string(function->def->range.line()) == name.substr(at + 1))
        return function.get();
    return nullptr;
  }
  const Binding *binding = find(name);
  if (binding && binding->kind == Binding::Kind::Jit)
    return binding->function;
  for (const auto &function : functions_)
    if (function->def->name == name)
      return function.get();
  return nullptr;
}

std::string ModuleScope::resolve(const Expr *expr, int depth) const {
  constexpr int kMaxAliases = 8; // `a = b; b = a` must end
  const std::string text = dottedName(expr);
  const size_t dot = text.find('.');
  const std::string rest = dot == std::string::npos ? "" : text.substr(dot);
  const Binding *binding = text.empty() ? nullptr : find(text.substr(0, dot));
  if (binding && binding->kind == Binding::Kind::Import)
    return binding->path + rest;
  if (binding && binding->kind == Binding::Kind::Constexpr && depth < kMaxAliases &&
      !dottedName(binding->value).empty())
    return resolve(binding->value, depth + 1) + rest;
  return text;
}

FrontValue valueOfPath(const std::string &path) {
  if (path == "triton" || path == "triton.language" || path == "triton.runtime" || path == "triton.tools" ||
      path == "triton.backends")
    return FrontValue::named(FrontKind::Module, path);
  if (!startsWith(path, "triton."))
    return FrontValue::named(FrontKind::Foreign, path);
  static constexpr std::string_view kLanguage = "triton.language.";
  if (!startsWith(path, kLanguage))
    return FrontValue::named(FrontKind::Builtin, path);
  std::string rest = path.substr(kLanguage.size());
  // Folders of triton.language whose functions are also found (or could be) directly under it.
  static constexpr std::array<std::string_view, 11> kFolders = {
      "core", "standard", "semantic", "random", "extra", "cuda", "hip", "ascend", "cann", "intel", "xpu"};
  bool library = false, folder = true;
  while (folder) {
    folder = false;
    const std::string head = rest.substr(0, rest.find('.'));
    for (const std::string_view known : kFolders)
      folder |= head == known;
    const bool isLibrary = head == "libdevice" || head == "math";
    folder |= isLibrary;
    library |= isLibrary;
    if (!folder)
      break;
    if (rest.size() == head.size())
      return FrontValue::named(FrontKind::Module, path);
    rest = rest.substr(head.size() + 1);
  }
  if (!library)
    if (const auto dtype = parseTritonDType(rest))
      return FrontValue::typeObject(Type::scalar(*dtype));
  return FrontValue::named(FrontKind::Builtin, (library ? "math." : "") + rest);
}

} // namespace tilewright::lowering
