#include "ModuleScope.h"

#include "AstWalk.h"
#include "ImportedFiles.h"
#include "ModuleConditions.h"

#include <algorithm>
#include <array>

namespace tilewright::lowering {

using namespace lang;

namespace {

constexpr int kMaxDepth = 24; ///< `a = b; b = a` and circles of imports must end

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool isTriton(std::string_view path) { return path == "triton" || startsWith(path, "triton."); }

bool isJitDecorator(std::string_view path) {
  return path == "triton.jit" || path == "triton.runtime.jit" || path == "triton.runtime.jit.jit" ||
         path == "triton.runtime.driver.jit";
}

bool isConstexprFunction(std::string_view path) {
  constexpr std::string_view kName = ".constexpr_function";
  return isTriton(path) && path.size() > kName.size() && path.substr(path.size() - kName.size()) == kName;
}

/// `tl.constexpr(...)`: what makes a global usable in a kernel.
bool isConstexprCall(const ModuleScope &scope, const Expr *value) {
  const auto *call = dynCast<Call>(value);
  return call && isConstexprAnnotation(scope, call->func);
}

/// Whether a body defines a decorated function somewhere inside.
bool holdsDecorated(Body body) {
  bool found = false;
  walkBody(
      body,
      [&](const Stmt &stmt) {
        const auto *def = dynCast<FunctionDef>(&stmt);
        found |= def && (!def->decoratorList.empty() || holdsDecorated(def->body));
      },
      [](const Expr &) {});
  return found;
}

} // namespace

ModuleScope::ModuleScope(const Module &module, ImportedFiles *files) : source_(module.source), files_(files) {
  collect(module.body);
}

ModuleScope::ModuleScope(const ModuleScope &around, Body body, const Arguments *arguments,
                         std::string_view name)
    : source_(around.source_), files_(around.files_), around_(&around), file_(around.file_),
      prefix_(around.prefix_ + std::string(name) + "."), isClass_(arguments == nullptr) {
  if (arguments) {
    for (const auto list : {arguments->posonlyargs, arguments->args, arguments->kwonlyargs})
      for (const Arg *arg : list)
        bind(arg->arg, {Binding::Kind::Argument, {}, nullptr, nullptr, nullptr, arg->range});
    for (const Arg *arg : {arguments->vararg, arguments->kwarg})
      if (arg)
        bind(arg->arg, {Binding::Kind::Argument, {}, nullptr, nullptr, nullptr, arg->range});
  }
  collect(body);
}

bool ModuleScope::readable(const Binding &binding) const {
  switch (binding.kind) {
  case Binding::Kind::Import:
    return isTriton(binding.path) || startsWith(binding.path, ".") || files_ != nullptr;
  case Binding::Kind::Plain:
    if (const auto *call = dynCast<Call>(binding.value))
      return isTriton(resolve(call->func));
    return !isa<Constant>(binding.value) || !cast<Constant>(binding.value)->isNone();
  default:
    return binding.kind != Binding::Kind::Python;
  }
}

void ModuleScope::bind(std::string_view name, Binding binding) {
  binding.alternative = alternative_;
  const auto known = names_.find(name);
  if (known == names_.end())
    names_.emplace(std::string(name), std::move(binding));
  else if (!known->second.alternative || !readable(known->second) || readable(binding))
    known->second = std::move(binding);
}

const JitFunction *ModuleScope::addJit(const FunctionDef *def, std::vector<std::string> decorators) {
  auto function = std::make_unique<JitFunction>();
  function->def = def;
  function->decorators = std::move(decorators);
  function->scope = this;
  while (function->scope->isClass_) // methods do not see their class's names
    function->scope = function->scope->around_;
  function->qualifiedName = prefix_ + std::string(def->name);
  return file_->functions_.emplace_back(std::move(function)).get();
}

void ModuleScope::addFunction(const FunctionDef *def) {
  bool jit = false, constexprOnly = false;
  std::vector<std::string> decorators;
  for (const Expr *decorator : def->decoratorList) {
    const auto *call = dynCast<Call>(decorator);
    decorators.push_back(resolve(call ? call->func : decorator));
    jit |= isJitDecorator(decorators.back());
    constexprOnly |=
        isConstexprFunction(decorators.back()) || decorators.back() == "triton.language.constexpr";
  }
  if (jit || constexprOnly) {
    const JitFunction *function = addJit(def, std::move(decorators));
    file_->functions_.back()->constexprOnly = constexprOnly;
    bind(def->name, {Binding::Kind::Jit, {}, nullptr, function, nullptr, def->range});
    return;
  }
  defs_.insert_or_assign(std::string(def->name), def);
  const JitFunction *ordinary = file_->ordinary_
                                    .emplace_back(new JitFunction{def, std::move(decorators), this,
                                                                  prefix_ + std::string(def->name), true})
                                    .get();
  bind(def->name, {Binding::Kind::Python, {}, nullptr, ordinary, nullptr, def->range});
  if (holdsDecorated(def->body))
    file_->inner_.emplace_back(new ModuleScope(*this, def->body, def->args, def->name));
}

void ModuleScope::addClass(const ClassDef *def) {
  file_->inner_.emplace_back(new ModuleScope(*this, def->body, nullptr, def->name));
  const ModuleScope *inner = file_->inner_.back().get();
  for (const Expr *base : def->bases)
    file_->inner_.back()->bases_.push_back(resolve(base));
  bind(def->name, {Binding::Kind::Class, {}, nullptr, nullptr, inner, def->range});
}

/// `k = triton.jit(f)`, also inside of other calls: the function that it makes a kernel.
const FunctionDef *ModuleScope::jitArgument(const Expr *value) const {
  const auto *call = dynCast<Call>(value);
  if (!call)
    return nullptr;
  const auto *maker = dynCast<Call>(call->func);
  if (isJitDecorator(resolve(maker ? maker->func : call->func)) && !call->args.empty())
    if (const auto *name = dynCast<Name>(call->args[0]))
      for (const ModuleScope *scope = this; scope; scope = scope->around_)
        if (const auto def = scope->defs_.find(name->id); def != scope->defs_.end())
          return def->second;
  for (const Expr *argument : call->args)
    if (const FunctionDef *def = jitArgument(argument))
      return def;
  return nullptr;
}

void ModuleScope::bindAssignment(const Expr *target, const Expr *value, bool constexprAnnotation,
                                 const SourceRange &range) {
  if (const auto *targets = dynCast<Tuple>(target)) {
    const auto *values = dynCast<Tuple>(value);
    for (size_t i = 0; values && values->elts.size() == targets->elts.size() && i < targets->elts.size(); ++i)
      bindAssignment(targets->elts[i], values->elts[i], false, range);
    return;
  }
  const auto *name = dynCast<Name>(target);
  if (!name)
    return;
  if (const FunctionDef *def = jitArgument(value)) {
    const JitFunction *function = addJit(def, {"triton.jit"});
    file_->functions_.back()->qualifiedName = prefix_ + std::string(name->id);
    bind(name->id, {Binding::Kind::Jit, {}, nullptr, function, nullptr, range});
    return;
  }
  const bool alias = !dottedName(value).empty();
  bind(name->id, {alias || constexprAnnotation || isConstexprCall(*this, value) ? Binding::Kind::Constexpr
                                                                                : Binding::Kind::Plain,
                  {},
                  value,
                  nullptr,
                  nullptr,
                  range});
}

void ModuleScope::collect(Body body) {
  const auto alternative = [&](Body arm) {
    const bool before = std::exchange(alternative_, true);
    collect(arm);
    alternative_ = before;
  };
  for (const Stmt *stmt : body) {
    switch (stmt->kind) {
    case StmtKind::Import:
      for (const Alias *alias : cast<Import>(stmt)->names) {
        const std::string path(alias->name);
        const std::string root = path.substr(0, path.find('.'));
        if (!alias->asname.empty())
          bind(alias->asname, {Binding::Kind::Import, path, nullptr, nullptr, nullptr, alias->range});
        else
          bind(root, {Binding::Kind::Import, root, nullptr, nullptr, nullptr, alias->range});
      }
      break;
    case StmtKind::ImportFrom: {
      const auto *import = cast<ImportFrom>(stmt);
      const std::string base = std::string(import->level, '.') + std::string(import->module);
      for (const Alias *alias : import->names)
        if (alias->name == "*")
          stars_.push_back(base);
        else
          bind(alias->asname.empty() ? alias->name : alias->asname,
               {Binding::Kind::Import,
                base + (base.empty() || base.back() == '.' ? "" : ".") + std::string(alias->name), nullptr,
                nullptr, nullptr, alias->range});
      break;
    }
    case StmtKind::FunctionDef:
      addFunction(cast<FunctionDef>(stmt));
      break;
    case StmtKind::ClassDef:
      addClass(cast<ClassDef>(stmt));
      break;
    case StmtKind::Assign:
      for (const Expr *target : cast<Assign>(stmt)->targets)
        bindAssignment(target, cast<Assign>(stmt)->value, false, stmt->range);
      break;
    case StmtKind::AnnAssign:
      if (const auto *name = dynCast<Name>(cast<AnnAssign>(stmt)->target); name && isClass_)
        fields_.emplace_back(name->id);
      if (const auto *assign = cast<AnnAssign>(stmt); assign->value)
        bindAssignment(assign->target, assign->value, isConstexprAnnotation(*this, assign->annotation),
                       stmt->range);
      break;
    // The arm that counts is collected last, so it wins; the others are still read for kernels.
    case StmtKind::If: {
      const auto *branch = cast<If>(stmt);
      const std::optional<bool> taken = decidedCondition(*this, branch->test);
      const Body first = taken.value_or(true) ? branch->body : branch->orelse;
      const Body second = taken.value_or(true) ? branch->orelse : branch->body;
      if (taken)
        collect(second);
      else
        alternative(second);
      collect(first);
      break;
    }
    case StmtKind::Try:
      for (const ExceptHandler *handler : cast<Try>(stmt)->handlers)
        alternative(handler->body);
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

bool ModuleScope::isNamedTuple() const {
  return std::any_of(bases_.begin(), bases_.end(),
                     [](const std::string &base) { return base.ends_with("NamedTuple"); });
}

Meaning ModuleScope::import(const std::string &path) const {
  return files_ ? files_->import(*source_, path, 1) : Meaning::external(path);
}

Meaning ModuleScope::own(std::string_view name, int depth) const {
  if (depth > kMaxDepth)
    return {};
  const auto found = names_.find(name);
  if (found == names_.end()) {
    for (const std::string &star : stars_) {
      Meaning module = files_ ? files_->import(*source_, star, depth + 1) : Meaning::external(star);
      Meaning meaning;
      if (module.kind == Meaning::Kind::Scope)
        meaning = module.scope->own(name, depth + 1);
      else if (module.kind == Meaning::Kind::External && knownToTriton(module.path + "." + std::string(name)))
        meaning = Meaning::external(module.path + "." + std::string(name));
      if (meaning.kind != Meaning::Kind::Unknown)
        return meaning;
    }
    return {};
  }
  const Binding &binding = found->second;
  switch (binding.kind) {
  case Binding::Kind::Import:
    return files_ ? files_->import(*source_, binding.path, depth + 1) : Meaning::unread(binding.path);
  case Binding::Kind::Class:
    return {Meaning::Kind::Scope, {}, binding.inner, &binding};
  case Binding::Kind::Constexpr:
  case Binding::Kind::Plain: {
    // An alias means what its target means.
    const Expr *value = binding.value;
    while (const auto *choice = dynCast<IfExp>(value))
      value = decidedCondition(*this, choice->test).value_or(true) ? choice->body : choice->orelse;
    if (!dottedName(value).empty())
      if (Meaning meaning = meaningOf(value, depth + 1); meaning.kind != Meaning::Kind::Unknown)
        return meaning;
    return {Meaning::Kind::Bound, {}, this, &binding};
  }
  default:
    return {Meaning::Kind::Bound, {}, this, &binding};
  }
}

Meaning ModuleScope::lookup(std::string_view name, int depth) const {
  for (const ModuleScope *scope = this; scope; scope = scope->around_)
    if (Meaning meaning = scope->own(name, depth); meaning.kind != Meaning::Kind::Unknown)
      return meaning;
  return {};
}

Meaning ModuleScope::member(const Meaning &of, std::string_view name, int depth) {
  if (of.kind == Meaning::Kind::External)
    return Meaning::external(of.path + "." + std::string(name));
  if (of.kind != Meaning::Kind::Scope)
    return {};
  Meaning meaning = of.scope->own(name, depth);
  if (meaning.kind == Meaning::Kind::Unknown && !of.scope->around_ && of.scope->files_)
    meaning = of.scope->files_->submodule(*of.scope->source_, name);
  return meaning;
}

Meaning ModuleScope::meaningOf(const Expr *expr, int depth) const {
  if (depth > kMaxDepth)
    return {};
  if (const auto *name = dynCast<Name>(expr))
    return lookup(name->id, depth);
  if (const auto *attribute = dynCast<lang::Attribute>(expr))
    return member(meaningOf(attribute->value, depth), attribute->attr, depth);
  return {};
}

const JitFunction *ModuleScope::function(std::string_view name) const {
  if (const auto found = names_.find(name); found != names_.end() &&
                                            found->second.kind == Binding::Kind::Jit &&
                                            !found->second.function->constexprOnly)
    return found->second.function;
  const size_t at = name.find('@');
  const std::string_view plain = name.substr(0, at);
  for (const auto &function : functions_)
    if ((function->def->name == plain || function->qualifiedName == plain) &&
        (at == std::string_view::npos || std::to_string(function->def->range.line()) == name.substr(at + 1)))
      return function.get();
  return nullptr;
}

const JitFunction *ModuleScope::functionOf(const Expr *expr) const {
  const Meaning meaning = meaningOf(expr);
  return meaning.kind == Meaning::Kind::Bound && meaning.binding->kind == Binding::Kind::Jit
             ? meaning.binding->function
             : nullptr;
}

std::string ModuleScope::resolve(const Expr *expr) const {
  std::string text = dottedName(expr);
  if (text.empty())
    return text;
  Meaning meaning = meaningOf(expr);
  if (meaning.kind == Meaning::Kind::External)
    return std::move(meaning.path);
  return text;
}

bool isConstexprAnnotation(const ModuleScope &names, const Expr *annotation) {
  if (!annotation)
    return false;
  if (const auto *constant = dynCast<Constant>(annotation); constant && constant->asStr())
    return constant->asStr()->find("constexpr") != std::string_view::npos;
  const std::string path = names.resolve(annotation);
  return path == "triton.language.constexpr" || path == "constexpr" ||
         (path.size() > 10 && path.substr(path.size() - 10) == ".constexpr");
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
  // Folders of triton.language whose functions are also found (or could be) directly under it. Below `extra`
  // each vendor has a folder; what vendors give the same name means the same.
  static constexpr std::array<std::string_view, 10> kFolders = {
      "core", "standard", "semantic", "random", "utils", "gdc", "extension", "cuda", "hip", "ascend"};
  bool library = false, folder = true, vendor = false;
  while (folder) {
    const std::string head = rest.substr(0, rest.find('.'));
    const bool isLibrary = head == "libdevice" || head == "math";
    folder = vendor || isLibrary || head == "extra" ||
             std::find(kFolders.begin(), kFolders.end(), head) != kFolders.end();
    vendor = head == "extra";
    library |= isLibrary;
    if (!folder)
      break;
    if (rest.size() == head.size())
      return FrontValue::named(FrontKind::Module, path);
    rest = rest.substr(head.size() + 1);
  }
  if (!library) {
    if (const auto dtype = parseTritonDType(rest))
      return FrontValue::typeObject(Type::scalar(*dtype));
    if (rest == "pi32_t")
      return FrontValue::typeObject(Type::pointer(DType::Int32));
  }
  return FrontValue::named(FrontKind::Builtin, (library ? "math." : "") + rest);
}

} // namespace tilewright::lowering
