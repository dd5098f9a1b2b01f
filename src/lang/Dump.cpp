#include "tilewright/lang/Dump.h"
#include "LegacyFString.h"
#include "PythonRepr.h"

#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

namespace tilewright::lang {

namespace {

/// Prints one tree. A node is `Open node(*this, "Name")`, then its fields in CPython's order, then
/// `node.close(range)`.
class Dumper {
public:
  Dumper(bool attributes, PythonVersion version) : attributes_(attributes), version_(version) {}

  std::string take() { return std::move(out_); }
  void prepare(const SourceFile *source) {
    if (version_ < PythonVersion::V312 && source)
      literals_.emplace(*source);
  }

  void print(const Module &module) {
    Open node(*this, "Module");
    node.list("body", module.body);
    node.list("type_ignores", Seq<const Stmt *>{});
    node.close();
  }
  void printExpression(const Expr &body) {
    Open node(*this, "Expression");
    node.child("body", &body);
    node.close();
  }

  void print(const Expr *expr) {
    if (!expr) {
      out_ += "None";
      return;
    }
    const SourceRange range = std::exchange(partRange_, std::nullopt).value_or(expr->range);
    Open node(*this, nodeName(expr->kind));
    switch (expr->kind) {
    case ExprKind::BoolOp: {
      const auto *n = cast<BoolOp>(expr);
      node.op("op", operatorName(n->op));
      node.list("values", n->values);
      break;
    }
    case ExprKind::NamedExpr: {
      const auto *n = cast<NamedExpr>(expr);
      node.child("target", n->target);
      node.child("value", n->value);
      break;
    }
    case ExprKind::BinOp: {
      const auto *n = cast<BinOp>(expr);
      node.child("left", n->left);
      node.op("op", operatorName(n->op));
      node.child("right", n->right);
      break;
    }
    case ExprKind::UnaryOp: {
      const auto *n = cast<UnaryOp>(expr);
      node.op("op", operatorName(n->op));
      node.child("operand", n->operand);
      break;
    }
    case ExprKind::Lambda: {
      const auto *n = cast<Lambda>(expr);
      node.child("args", n->args);
      node.child("body", n->body);
      break;
    }
    case ExprKind::IfExp: {
      const auto *n = cast<IfExp>(expr);
      node.child("test", n->test);
      node.child("body", n->body);
      node.child("orelse", n->orelse);
      break;
    }
    case ExprKind::Dict: {
      const auto *n = cast<Dict>(expr);
      node.list("keys", n->keys);
      node.list("values", n->values);
      break;
    }
    case ExprKind::Set:
      node.list("elts", cast<Set>(expr)->elts);
      break;
    case ExprKind::ListComp: {
      const auto *n = cast<ListComp>(expr);
      node.child("elt", n->elt);
      node.list("generators", n->generators);
      break;
    }
    case ExprKind::SetComp: {
      const auto *n = cast<SetComp>(expr);
      node.child("elt", n->elt);
      node.list("generators", n->generators);
      break;
    }
    case ExprKind::DictComp: {
      const auto *n = cast<DictComp>(expr);
      node.child("key", n->key);
      node.child("value", n->value);
      node.list("generators", n->generators);
      break;
    }
    case ExprKind::GeneratorExp: {
      const auto *n = cast<GeneratorExp>(expr);
      node.child("elt", n->elt);
      node.list("generators", n->generators);
      break;
    }
    case ExprKind::Await:
      node.child("value", cast<Await>(expr)->value);
      break;
    case ExprKind::Yield:
      node.optional("value", cast<Yield>(expr)->value);
      break;
    case ExprKind::YieldFrom:
      node.child("value", cast<YieldFrom>(expr)->value);
      break;
    case ExprKind::Compare: {
      const auto *n = cast<Compare>(expr);
      node.child("left", n->left);
      node.field("ops");
      out_ += '[';
      for (size_t i = 0; i < n->ops.size(); ++i)
        fmt::format_to(std::back_inserter(out_), "{}{}()", i ? ", " : "", operatorName(n->ops[i]));
      out_ += ']';
      node.list("comparators", n->comparators);
      break;
    }
    case ExprKind::Call: {
      const auto *n = cast<Call>(expr);
      node.child("func", n->func);
      node.list("args", n->args);
      node.list("keywords", n->keywords);
      break;
    }
    case ExprKind::FormattedValue: {
      const auto *n = cast<FormattedValue>(expr);
      printFormatted(node, n);
      break;
    }
    case ExprKind::Interpolation: {
      const auto *n = cast<Interpolation>(expr);
      node.child("value", n->value);
      node.name("str", n->str);
      node.number("conversion", n->conversion);
      node.optional("format_spec", n->formatSpec);
      break;
    }
    case ExprKind::JoinedStr:
      return printJoined(node, cast<JoinedStr>(expr), range);
    case ExprKind::TemplateStr:
      node.list("values", cast<TemplateStr>(expr)->values);
      break;
    case ExprKind::Constant: {
      const auto *n = cast<Constant>(expr);
      node.field("value");
      appendRepr(out_, n->value);
      if (n->unicodePrefix || joinedUnicode_)
        node.name("kind", "u");
      break;
    }
    case ExprKind::Attribute: {
      const auto *n = cast<Attribute>(expr);
      node.child("value", n->value);
      node.name("attr", n->attr);
      node.context(n->ctx);
      break;
    }
    case ExprKind::Subscript: {
      const auto *n = cast<Subscript>(expr);
      node.child("value", n->value);
      node.child("slice", n->slice);
      node.context(n->ctx);
      break;
    }
    case ExprKind::Starred: {
      const auto *n = cast<Starred>(expr);
      node.child("value", n->value);
      node.context(n->ctx);
      break;
    }
    case ExprKind::Name: {
      const auto *n = cast<Name>(expr);
      node.name("id", n->id);
      node.context(n->ctx);
      break;
    }
    case ExprKind::List: {
      const auto *n = cast<List>(expr);
      node.list("elts", n->elts);
      node.context(n->ctx);
      break;
    }
    case ExprKind::Tuple: {
      const auto *n = cast<Tuple>(expr);
      node.list("elts", n->elts);
      node.context(n->ctx);
      break;
    }
    case ExprKind::Slice: {
      const auto *n = cast<Slice>(expr);
      node.optional("lower", n->lower);
      node.optional("upper", n->upper);
      node.optional("step", n->step);
      break;
    }
    }
    node.close(range);
  }

  void print(const Stmt *stmt) {
    Open node(*this, nodeName(stmt->kind));
    switch (stmt->kind) {
    case StmtKind::FunctionDef:
    case StmtKind::AsyncFunctionDef: {
      const auto *n = static_cast<const FunctionFields *>(stmt);
      node.name("name", n->name);
      node.child("args", n->args);
      node.list("body", n->body);
      node.list("decorator_list", n->decoratorList);
      node.optional("returns", n->returns);
      printTypeParams(node, n->typeParams);
      break;
    }
    case StmtKind::ClassDef: {
      const auto *n = cast<ClassDef>(stmt);
      node.name("name", n->name);
      node.list("bases", n->bases);
      node.list("keywords", n->keywords);
      node.list("body", n->body);
      node.list("decorator_list", n->decoratorList);
      printTypeParams(node, n->typeParams);
      break;
    }
    case StmtKind::Return:
      node.optional("value", cast<Return>(stmt)->value);
      break;
    case StmtKind::Delete:
      node.list("targets", cast<Delete>(stmt)->targets);
      break;
    case StmtKind::Assign: {
      const auto *n = cast<Assign>(stmt);
      node.list("targets", n->targets);
      node.child("value", n->value);
      break;
    }
    case StmtKind::TypeAlias: {
      const auto *n = cast<TypeAlias>(stmt);
      node.child("name", n->name);
      node.list("type_params", n->typeParams);
      node.child("value", n->value);
      break;
    }
    case StmtKind::AugAssign: {
      const auto *n = cast<AugAssign>(stmt);
      node.child("target", n->target);
      node.op("op", operatorName(n->op));
      node.child("value", n->value);
      break;
    }
    case StmtKind::AnnAssign: {
      const auto *n = cast<AnnAssign>(stmt);
      node.child("target", n->target);
      node.child("annotation", n->annotation);
      node.optional("value", n->value);
      node.number("simple", n->simple);
      break;
    }
    case StmtKind::For:
    case StmtKind::AsyncFor: {
      const auto *n = static_cast<const ForFields *>(stmt);
      node.child("target", n->target);
      node.child("iter", n->iter);
      node.list("body", n->body);
      node.list("orelse", n->orelse);
      break;
    }
    case StmtKind::While: {
      const auto *n = cast<While>(stmt);
      node.child("test", n->test);
      node.list("body", n->body);
      node.list("orelse", n->orelse);
      break;
    }
    case StmtKind::If: {
      const auto *n = cast<If>(stmt);
      node.child("test", n->test);
      node.list("body", n->body);
      node.list("orelse", n->orelse);
      break;
    }
    case StmtKind::With:
    case StmtKind::AsyncWith: {
      const auto *n = static_cast<const WithFields *>(stmt);
      node.list("items", n->items);
      node.list("body", n->body);
      break;
    }
    case StmtKind::Match: {
      const auto *n = cast<Match>(stmt);
      node.child("subject", n->subject);
      node.list("cases", n->cases);
      break;
    }
    case StmtKind::Raise: {
      const auto *n = cast<Raise>(stmt);
      node.optional("exc", n->exc);
      node.optional("cause", n->cause);
      break;
    }
    case StmtKind::Try:
    case StmtKind::TryStar: {
      const auto *n = static_cast<const TryFields *>(stmt);
      node.list("body", n->body);
      node.list("handlers", n->handlers);
      node.list("orelse", n->orelse);
      node.list("finalbody", n->finalbody);
      break;
    }
    case StmtKind::Assert: {
      const auto *n = cast<Assert>(stmt);
      node.child("test", n->test);
      node.optional("msg", n->msg);
      break;
    }
    case StmtKind::Import:
      node.list("names", cast<Import>(stmt)->names);
      break;
    case StmtKind::ImportFrom: {
      const auto *n = cast<ImportFrom>(stmt);
      node.optionalName("module", n->module);
      node.list("names", n->names);
      node.number("level", static_cast<int>(n->level));
      break;
    }
    case StmtKind::Global:
      node.names("names", cast<Global>(stmt)->names);
      break;
    case StmtKind::Nonlocal:
      node.names("names", cast<Nonlocal>(stmt)->names);
      break;
    case StmtKind::Expr:
      node.child("value", cast<ExprStmt>(stmt)->value);
      break;
    case StmtKind::Pass:
    case StmtKind::Break:
    case StmtKind::Continue:
      break;
    }
    node.close(stmt->range);
  }

private:
  bool attributes_;
  PythonVersion version_;
  std::string out_;
  /// Before 3.12 the parts of an f-string carry the location of a whole literal.
  std::optional<LegacyLiterals> literals_;
  SourceRange joinedRange_;
  bool joinedUnicode_ = false;
  int joinedDepth_ = 0;                  ///< format specifiers count
  std::optional<SourceRange> partRange_; ///< for the next expression, instead of its own

  class Open {
  public:
    Open(Dumper &dumper, std::string_view name) : dumper_(dumper), out_(dumper.out_) {
      out_ += name;
      out_ += '(';
    }
    void field(std::string_view name) {
      if (!first_)
        out_ += ", ";
      first_ = false;
      out_ += name;
      out_ += '=';
    }
    template <class T> void child(std::string_view name, const T *node) {
      field(name);
      dumper_.print(node);
    }
    template <class T> void optional(std::string_view name, const T *node) {
      if (node)
        child(name, node);
    }
    template <class T> void list(std::string_view name, Seq<const T *> items) {
      if (items.empty() && dumper_.version_ >= PythonVersion::V313)
        return;
      field(name);
      out_ += '[';
      for (size_t i = 0; i < items.size(); ++i) {
        if (i)
          out_ += ", ";
        dumper_.print(items[i]);
      }
      out_ += ']';
    }
    void names(std::string_view name, Seq<Identifier> items) {
      if (items.empty() && dumper_.version_ >= PythonVersion::V313)
        return;
      field(name);
      out_ += '[';
      for (size_t i = 0; i < items.size(); ++i) {
        if (i)
          out_ += ", ";
        appendStrRepr(out_, items[i]);
      }
      out_ += ']';
    }
    void name(std::string_view name, std::string_view text) {
      field(name);
      appendStrRepr(out_, text);
    }
    void optionalName(std::string_view name, std::string_view text) {
      if (!text.empty())
        this->name(name, text);
    }
    void number(std::string_view name, int value) {
      field(name);
      fmt::format_to(std::back_inserter(out_), "{}", value);
    }
    void op(std::string_view name, std::string_view className) {
      field(name);
      out_ += className;
      out_ += "()";
    }
    void context(ExprContext ctx) {
      op("ctx", ctx == ExprContext::Load ? "Load" : ctx == ExprContext::Store ? "Store" : "Del");
    }
    void close() { out_ += ')'; }
    void close(const SourceRange &range) {
      if (dumper_.attributes_ && range.valid()) {
        const auto begin = range.file->position(range.begin);
        const auto end = range.file->position(range.end);
        fmt::format_to(std::back_inserter(out_),
                       "{}lineno={}, col_offset={}, end_lineno={}, end_col_offset={}", first_ ? "" : ", ",
                       begin.line, begin.column, end.line, end.column);
      }
      out_ += ')';
    }

  private:
    Dumper &dumper_;
    std::string &out_;
    bool first_ = true;
  };

  void printTypeParams(Open &node, Seq<const TypeParam *> params) {
    if (version_ >= PythonVersion::V312)
      node.list("type_params", params);
  }

  void printFormatted(Open &node, const FormattedValue *n) {
    // The expression is on its own again: nothing of the surrounding literal applies to it.
    const int depth = std::exchange(joinedDepth_, 0);
    const bool unicode = std::exchange(joinedUnicode_, false);
    if (literals_)
      partRange_ = literals_->tupleRange(*n);
    node.child("value", n->value);
    joinedDepth_ = depth;
    joinedUnicode_ = unicode;
    node.number("conversion", n->conversion);
    node.optional("format_spec", n->formatSpec);
  }

  void printJoined(Open &node, const JoinedStr *n, const SourceRange &range) {
    if (!literals_) {
      printJoinedValues(node, n);
      return node.close(range);
    }
    // CPython 3.11: every part has the location of the whole concatenation, except the last text of a format
    // specifier and the specifier itself, which have that of their own literal.
    const SourceRange outerRange = joinedRange_;
    const bool outerUnicode = joinedUnicode_;
    const bool isSpec = joinedDepth_ > 0;
    SourceRange own = range;
    if (isSpec) {
      own = literals_->enclosing(n->range);
    } else {
      joinedRange_ = own;
      joinedUnicode_ = own.text().starts_with('u');
    }
    ++joinedDepth_;
    node.field("values");
    out_ += '[';
    for (size_t i = 0; i < n->values.size(); ++i) {
      if (i)
        out_ += ", ";
      const bool lastText = i + 1 == n->values.size() && isa<Constant>(n->values[i]);
      partRange_ = isSpec && lastText ? own : joinedRange_;
      print(n->values[i]);
    }
    out_ += ']';
    --joinedDepth_;
    joinedRange_ = outerRange;
    joinedUnicode_ = outerUnicode;
    node.close(own);
  }

  void printJoinedValues(Open &node, const JoinedStr *n) {
    // 3.12 ends a format specifier that ends in a field with an empty text.
    const bool isSpec = n->range.valid() && n->range.text().starts_with(':');
    if (version_ != PythonVersion::V312 || !isSpec || n->values.empty() ||
        !isa<FormattedValue>(n->values.back()))
      return node.list("values", n->values);
    node.field("values");
    out_ += '[';
    for (const Expr *value : n->values) {
      print(value);
      out_ += ", ";
    }
    Open empty(*this, "Constant");
    empty.name("value", "");
    empty.close({n->range.file, n->range.end, n->range.end});
    out_ += ']';
  }

  void print(const Arguments *arguments) {
    Open node(*this, "arguments");
    node.list("posonlyargs", arguments->posonlyargs);
    node.list("args", arguments->args);
    node.optional("vararg", arguments->vararg);
    node.list("kwonlyargs", arguments->kwonlyargs);
    node.list("kw_defaults", arguments->kwDefaults);
    node.optional("kwarg", arguments->kwarg);
    node.list("defaults", arguments->defaults);
    node.close();
  }
  void print(const Arg *arg) {
    Open node(*this, "arg");
    node.name("arg", arg->arg);
    node.optional("annotation", arg->annotation);
    node.close(arg->range);
  }
  void print(const Keyword *keyword) {
    Open node(*this, "keyword");
    node.optionalName("arg", keyword->arg);
    node.child("value", keyword->value);
    node.close(keyword->range);
  }
  void print(const Alias *alias) {
    Open node(*this, "alias");
    node.name("name", alias->name);
    node.optionalName("asname", alias->asname);
    version_ == PythonVersion::V39 ? node.close() : node.close(alias->range);
  }
  void print(const WithItem *item) {
    Open node(*this, "withitem");
    node.child("context_expr", item->contextExpr);
    node.optional("optional_vars", item->optionalVars);
    node.close();
  }
  void print(const Comprehension *comprehension) {
    Open node(*this, "comprehension");
    node.child("target", comprehension->target);
    node.child("iter", comprehension->iter);
    node.list("ifs", comprehension->ifs);
    node.number("is_async", comprehension->isAsync);
    node.close();
  }
  void print(const ExceptHandler *handler) {
    Open node(*this, "ExceptHandler");
    node.optional("type", handler->type);
    node.optionalName("name", handler->name);
    node.list("body", handler->body);
    node.close(handler->range);
  }
  void print(const MatchCase *matchCase) {
    Open node(*this, "match_case");
    node.child("pattern", matchCase->pattern);
    node.optional("guard", matchCase->guard);
    node.list("body", matchCase->body);
    node.close();
  }
  void print(const TypeParam *param) {
    Open node(*this, nodeName(param->kind));
    node.name("name", param->name);
    if (const auto *variable = dynCast<TypeVar>(param))
      node.optional("bound", variable->bound);
    if (version_ >= PythonVersion::V313)
      node.optional("default_value", param->defaultValue);
    node.close(param->range);
  }

  void print(const Pattern *pattern) {
    Open node(*this, nodeName(pattern->kind));
    switch (pattern->kind) {
    case PatternKind::MatchValue:
      node.child("value", cast<MatchValue>(pattern)->value);
      break;
    case PatternKind::MatchSingleton:
      node.field("value");
      appendRepr(out_, cast<MatchSingleton>(pattern)->value);
      break;
    case PatternKind::MatchSequence:
      node.list("patterns", cast<MatchSequence>(pattern)->patterns);
      break;
    case PatternKind::MatchMapping: {
      const auto *n = cast<MatchMapping>(pattern);
      node.list("keys", n->keys);
      node.list("patterns", n->patterns);
      node.optionalName("rest", n->rest);
      break;
    }
    case PatternKind::MatchClass: {
      const auto *n = cast<MatchClass>(pattern);
      node.child("cls", n->cls);
      node.list("patterns", n->patterns);
      node.names("kwd_attrs", n->kwdAttrs);
      node.list("kwd_patterns", n->kwdPatterns);
      break;
    }
    case PatternKind::MatchStar:
      node.optionalName("name", cast<MatchStar>(pattern)->name);
      break;
    case PatternKind::MatchAs: {
      const auto *n = cast<MatchAs>(pattern);
      node.optional("pattern", n->pattern);
      node.optionalName("name", n->name);
      break;
    }
    case PatternKind::MatchOr:
      node.list("patterns", cast<MatchOr>(pattern)->patterns);
      break;
    }
    node.close(pattern->range);
  }
};

} // namespace

std::string dump(const Module &module, bool attributes, PythonVersion version) {
  Dumper dumper(attributes, version);
  dumper.prepare(module.source.get());
  dumper.print(module);
  return dumper.take();
}

std::string dump(const ExpressionModule &module, bool attributes, PythonVersion version) {
  Dumper dumper(attributes, version);
  dumper.prepare(module.source.get());
  dumper.printExpression(*module.body);
  return dumper.take();
}

std::string dump(const Expr &expr, bool attributes, PythonVersion version) {
  Dumper dumper(attributes, version);
  dumper.prepare(expr.range.file);
  dumper.print(&expr);
  return dumper.take();
}

std::string dump(const Stmt &stmt, bool attributes, PythonVersion version) {
  Dumper dumper(attributes, version);
  dumper.prepare(stmt.range.file);
  dumper.print(&stmt);
  return dumper.take();
}

} // namespace tilewright::lang
