#pragma once
/// The syntax tree of a Python file. Node names and fields are those of CPython's `ast` module, so its
/// documentation (https://docs.python.org/3/library/ast.html) is the documentation of this header, and the
/// tree is checked node by node against it.
///
///     x = a + 1        Assign(targets=[Name('x', Store())], value=BinOp(Name('a', Load()), Add(),
///     Constant(1)))
///
///     if (const auto *assign = lang::dynCast<lang::Assign>(statement))
///       if (const auto *sum = lang::dynCast<lang::BinOp>(assign->value))
///         ... sum->left, sum->op, sum->range.line() ...
///
/// Conventions
/// - An optional child is a null pointer (`returnStmt->value`), an optional name is an empty string_view (no
/// Python
///   name is empty). Lists are spans and never hold null, except where CPython's lists hold None:
///   `Dict::keys` (for
///   `**mapping`) and `Arguments::kwDefaults` (no default).
/// - Field names are CPython's in this project's spelling: `kw_defaults` is `kwDefaults`, `end_lineno` comes
/// from
///   `range`.
/// - `range` is a byte range of the module's source, exactly CPython's
/// lineno/col_offset/end_lineno/end_col_offset;
///   `range.text()` is the source text of the node (without parentheses around it, as CPython counts).
/// - Nodes are immutable after the parse, owned by their Module's arena, and may be read from any number of
/// threads.
#include "tilewright/lang/AstArena.h"
#include "tilewright/support/Source.h"

#include <cassert>
#include <memory>
#include <variant>

namespace tilewright::lang {

template <class T> using Seq = std::span<const T>;
/// Interned in the Module's arena; empty means "no name".
using Identifier = std::string_view;

// clang-format off
enum class ExprKind : uint8_t {
  BoolOp, NamedExpr, BinOp, UnaryOp, Lambda, IfExp, Dict, Set, ListComp, SetComp, DictComp, GeneratorExp, Await,
  Yield, YieldFrom, Compare, Call, FormattedValue, JoinedStr, Interpolation, TemplateStr, Constant, Attribute,
  Subscript, Starred, Name, List, Tuple, Slice,
};
enum class StmtKind : uint8_t {
  FunctionDef, AsyncFunctionDef, ClassDef, Return, Delete, Assign, TypeAlias, AugAssign, AnnAssign, For, AsyncFor,
  While, If, With, AsyncWith, Match, Raise, Try, TryStar, Assert, Import, ImportFrom, Global, Nonlocal, Expr, Pass,
  Break, Continue,
};
enum class PatternKind : uint8_t {
  MatchValue, MatchSingleton, MatchSequence, MatchMapping, MatchClass, MatchStar, MatchAs, MatchOr,
};
enum class TypeParamKind : uint8_t { TypeVar, ParamSpec, TypeVarTuple };

enum class ExprContext : uint8_t { Load, Store, Del };
enum class BoolOperator : uint8_t { And, Or };
enum class BinaryOperator : uint8_t {
  Add, Sub, Mult, MatMult, Div, Mod, Pow, LShift, RShift, BitOr, BitXor, BitAnd, FloorDiv,
};
enum class UnaryOperator : uint8_t { Invert, Not, UAdd, USub };
enum class CompareOperator : uint8_t { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
// clang-format on

/// "BinOp", "FunctionDef", ...: CPython's class names.
std::string_view nodeName(ExprKind kind);
std::string_view nodeName(StmtKind kind);
std::string_view nodeName(PatternKind kind);
std::string_view nodeName(TypeParamKind kind);
/// "Add", "NotIn", ...: CPython's class names.
std::string_view operatorName(BoolOperator op);
std::string_view operatorName(BinaryOperator op);
std::string_view operatorName(UnaryOperator op);
std::string_view operatorName(CompareOperator op);
/// "+", "not in", ...: as written in source.
std::string_view operatorText(BoolOperator op);
std::string_view operatorText(BinaryOperator op);
std::string_view operatorText(UnaryOperator op);
std::string_view operatorText(CompareOperator op);

//===-- Families
//--------------------------------------------------------------------------------------------===//

/// No expression tree is higher than this, however its source was written, so a recursive walk is safe.
/// CPython 3.11 refuses trees of about this height too (its bound is three times the recursion limit of
/// 1000).
inline constexpr uint16_t kMaxExprHeight = 3000;

struct Expr {
  ExprKind kind;
  uint16_t height = 1; ///< nodes on the longest path down to a leaf
  SourceRange range;

protected:
  explicit Expr(ExprKind kind) : kind(kind) {}
};

struct Stmt {
  StmtKind kind;
  SourceRange range;

protected:
  explicit Stmt(StmtKind kind) : kind(kind) {}
};

struct Pattern {
  PatternKind kind;
  SourceRange range;

protected:
  explicit Pattern(PatternKind kind) : kind(kind) {}
};

/// A type parameter of `def f[T: int = str](...)`, Python 3.12 and later.
struct TypeParam {
  TypeParamKind kind;
  SourceRange range;
  Identifier name;
  const Expr *defaultValue = nullptr; ///< Python 3.13

protected:
  explicit TypeParam(TypeParamKind kind) : kind(kind) {}
};

/// Gives a node its kind: `struct Name : ExprNode<ExprKind::Name> {...}` has `Name::kKind`.
template <ExprKind K> struct ExprNode : Expr {
  static constexpr ExprKind kKind = K;
  ExprNode() : Expr(K) {}
};
template <StmtKind K, class Fields = Stmt> struct StmtNode : Fields {
  static constexpr StmtKind kKind = K;
  StmtNode() : Fields(K) {}
};
template <PatternKind K> struct PatternNode : Pattern {
  static constexpr PatternKind kKind = K;
  PatternNode() : Pattern(K) {}
};
template <TypeParamKind K> struct TypeParamNode : TypeParam {
  static constexpr TypeParamKind kKind = K;
  TypeParamNode() : TypeParam(K) {}
};

/// The node as a T, or null when it is another kind (or null itself).
template <class T, class Node> const T *dynCast(const Node *node) {
  return node && node->kind == T::kKind ? static_cast<const T *>(node) : nullptr;
}
/// The node as a T; the caller knows its kind, usually from a switch over `kind`.
template <class T, class Node> const T *cast(const Node *node) {
  assert(node && node->kind == T::kKind && "cast to another kind of node");
  return static_cast<const T *>(node);
}
template <class T, class Node> bool isa(const Node *node) { return node && node->kind == T::kKind; }

//===-- Parts that are no family
//----------------------------------------------------------------------------===//

struct Arg {
  SourceRange range;
  Identifier arg;
  const Expr *annotation = nullptr;
};

/// `def f(posonlyargs, /, args, *vararg, kwonlyargs, **kwarg)`. As in CPython, `defaults` belong to the last
/// parameters of posonlyargs + args, and `kwDefaults` has one entry per kwonlyargs, null where there is no
/// default.
struct Arguments {
  Seq<const Arg *> posonlyargs;
  Seq<const Arg *> args;
  const Arg *vararg = nullptr;
  Seq<const Arg *> kwonlyargs;
  Seq<const Expr *> kwDefaults;
  const Arg *kwarg = nullptr;
  Seq<const Expr *> defaults;
};

/// `arg=value` in a call; `**value` has an empty `arg`.
struct Keyword {
  SourceRange range;
  Identifier arg;
  const Expr *value = nullptr;
};

/// `name as asname`; `name` may be dotted ("os.path") or "*".
struct Alias {
  SourceRange range;
  Identifier name;
  Identifier asname;
};

struct WithItem {
  const Expr *contextExpr = nullptr;
  const Expr *optionalVars = nullptr;
};

struct Comprehension {
  const Expr *target = nullptr;
  const Expr *iter = nullptr;
  Seq<const Expr *> ifs;
  bool isAsync = false;
};

struct ExceptHandler {
  SourceRange range;
  const Expr *type = nullptr;
  Identifier name;
  Seq<const Stmt *> body;
};

struct MatchCase {
  const Pattern *pattern = nullptr;
  const Expr *guard = nullptr;
  Seq<const Stmt *> body;
};

//===-- Expressions
//-----------------------------------------------------------------------------------------===//

struct BoolOp : ExprNode<ExprKind::BoolOp> {
  BoolOperator op = BoolOperator::And;
  Seq<const Expr *> values; ///< two or more: `a and b and c` is one BoolOp
};
/// `target := value`
struct NamedExpr : ExprNode<ExprKind::NamedExpr> {
  const Expr *target = nullptr;
  const Expr *value = nullptr;
};
struct BinOp : ExprNode<ExprKind::BinOp> {
  const Expr *left = nullptr;
  BinaryOperator op = BinaryOperator::Add;
  const Expr *right = nullptr;
};
struct UnaryOp : ExprNode<ExprKind::UnaryOp> {
  UnaryOperator op = UnaryOperator::Not;
  const Expr *operand = nullptr;
};
struct Lambda : ExprNode<ExprKind::Lambda> {
  const Arguments *args = nullptr;
  const Expr *body = nullptr;
};
/// `body if test else orelse`
struct IfExp : ExprNode<ExprKind::IfExp> {
  const Expr *test = nullptr;
  const Expr *body = nullptr;
  const Expr *orelse = nullptr;
};
struct Dict : ExprNode<ExprKind::Dict> {
  Seq<const Expr *> keys; ///< null for `**mapping`
  Seq<const Expr *> values;
};
struct Set : ExprNode<ExprKind::Set> {
  Seq<const Expr *> elts;
};
struct ListComp : ExprNode<ExprKind::ListComp> {
  const Expr *elt = nullptr;
  Seq<const Comprehension *> generators;
};
struct SetComp : ExprNode<ExprKind::SetComp> {
  const Expr *elt = nullptr;
  Seq<const Comprehension *> generators;
};
struct DictComp : ExprNode<ExprKind::DictComp> {
  const Expr *key = nullptr;
  const Expr *value = nullptr;
  Seq<const Comprehension *> generators;
};
struct GeneratorExp : ExprNode<ExprKind::GeneratorExp> {
  const Expr *elt = nullptr;
  Seq<const Comprehension *> generators;
};
struct Await : ExprNode<ExprKind::Await> {
  const Expr *value = nullptr;
};
struct Yield : ExprNode<ExprKind::Yield> {
  const Expr *value = nullptr; ///< optional
};
struct YieldFrom : ExprNode<ExprKind::YieldFrom> {
  const Expr *value = nullptr;
};
/// `left ops[0] comparators[0] ops[1] comparators[1] ...`
struct Compare : ExprNode<ExprKind::Compare> {
  const Expr *left = nullptr;
  Seq<CompareOperator> ops;
  Seq<const Expr *> comparators;
};
struct Call : ExprNode<ExprKind::Call> {
  const Expr *func = nullptr;
  Seq<const Expr *> args; ///< positional; `*x` is a Starred
  Seq<const Keyword *> keywords;
};
/// `{value!conversion:formatSpec}` inside an f-string.
struct FormattedValue : ExprNode<ExprKind::FormattedValue> {
  const Expr *value = nullptr;
  int conversion = -1;              ///< -1, 's', 'r' or 'a'
  const Expr *formatSpec = nullptr; ///< a JoinedStr, or null
};
/// An f-string: Constants (text) and FormattedValues in order.
struct JoinedStr : ExprNode<ExprKind::JoinedStr> {
  Seq<const Expr *> values;
};
/// `{value!conversion:formatSpec}` inside a t-string; `str` is the source text of the expression.
/// Python 3.14.
struct Interpolation : ExprNode<ExprKind::Interpolation> {
  const Expr *value = nullptr;
  std::string_view str;
  int conversion = -1;
  const Expr *formatSpec = nullptr;
};
/// A t-string. Python 3.14.
struct TemplateStr : ExprNode<ExprKind::TemplateStr> {
  Seq<const Expr *> values;
};

struct NoneValue {};
struct EllipsisValue {};
/// An integer that does not fit int64: its decimal digits.
struct BigIntValue {
  std::string_view digits;
};
/// `2.5j`: Python's only complex literal is an imaginary one.
struct ImaginaryValue {
  double imag = 0;
};
/// Escapes resolved, implicit concatenation done. UTF-8, where a lone surrogate (from "\ud800") is encoded as
/// the three bytes that UTF-8 would give it.
struct StrValue {
  std::string_view text;
};
struct BytesValue {
  std::string_view bytes;
};
struct Constant : ExprNode<ExprKind::Constant> {
  using Value = std::variant<NoneValue, bool, EllipsisValue, int64_t, BigIntValue, double, ImaginaryValue,
                             StrValue, BytesValue>;
  Value value;
  bool unicodePrefix = false; ///< CPython's kind='u': written u"..."

  bool isNone() const { return std::holds_alternative<NoneValue>(value); }
  const bool *asBool() const { return std::get_if<bool>(&value); }
  const int64_t *asInt() const { return std::get_if<int64_t>(&value); } ///< not for True and False
  const double *asFloat() const { return std::get_if<double>(&value); }
  /// The text of a str, or null.
  const std::string_view *asStr() const {
    const auto *text = std::get_if<StrValue>(&value);
    return text ? &text->text : nullptr;
  }
};

struct Attribute : ExprNode<ExprKind::Attribute> {
  const Expr *value = nullptr;
  Identifier attr;
  ExprContext ctx = ExprContext::Load;
};
/// `value[slice]`; `x[a, b]` has a Tuple as its slice.
struct Subscript : ExprNode<ExprKind::Subscript> {
  const Expr *value = nullptr;
  const Expr *slice = nullptr;
  ExprContext ctx = ExprContext::Load;
};
struct Starred : ExprNode<ExprKind::Starred> {
  const Expr *value = nullptr;
  ExprContext ctx = ExprContext::Load;
};
struct Name : ExprNode<ExprKind::Name> {
  Identifier id;
  ExprContext ctx = ExprContext::Load;
};
struct List : ExprNode<ExprKind::List> {
  Seq<const Expr *> elts;
  ExprContext ctx = ExprContext::Load;
};
struct Tuple : ExprNode<ExprKind::Tuple> {
  Seq<const Expr *> elts;
  ExprContext ctx = ExprContext::Load;
};
/// `lower:upper:step` inside a Subscript; each part is optional.
struct Slice : ExprNode<ExprKind::Slice> {
  const Expr *lower = nullptr;
  const Expr *upper = nullptr;
  const Expr *step = nullptr;
};

//===-- Statements
//------------------------------------------------------------------------------------------===//

using Body = Seq<const Stmt *>;

/// `range` starts at `def`, not at a decorator (as in CPython).
struct FunctionFields : Stmt {
  Identifier name;
  const Arguments *args = nullptr;
  Body body;
  Seq<const Expr *> decoratorList;
  const Expr *returns = nullptr;
  Seq<const TypeParam *> typeParams;

protected:
  using Stmt::Stmt;
};
struct FunctionDef : StmtNode<StmtKind::FunctionDef, FunctionFields> {};
struct AsyncFunctionDef : StmtNode<StmtKind::AsyncFunctionDef, FunctionFields> {};

struct ClassDef : StmtNode<StmtKind::ClassDef> {
  Identifier name;
  Seq<const Expr *> bases;
  Seq<const Keyword *> keywords;
  Body body;
  Seq<const Expr *> decoratorList;
  Seq<const TypeParam *> typeParams;
};
struct Return : StmtNode<StmtKind::Return> {
  const Expr *value = nullptr; ///< optional
};
struct Delete : StmtNode<StmtKind::Delete> {
  Seq<const Expr *> targets;
};
/// `targets[0] = targets[1] = value`
struct Assign : StmtNode<StmtKind::Assign> {
  Seq<const Expr *> targets;
  const Expr *value = nullptr;
};
/// `type name[typeParams] = value`, Python 3.12 and later.
struct TypeAlias : StmtNode<StmtKind::TypeAlias> {
  const Expr *name = nullptr; ///< a Name
  Seq<const TypeParam *> typeParams;
  const Expr *value = nullptr;
};
struct AugAssign : StmtNode<StmtKind::AugAssign> {
  const Expr *target = nullptr;
  BinaryOperator op = BinaryOperator::Add;
  const Expr *value = nullptr;
};
struct AnnAssign : StmtNode<StmtKind::AnnAssign> {
  const Expr *target = nullptr;
  const Expr *annotation = nullptr;
  const Expr *value = nullptr; ///< optional
  bool simple = false;         ///< the target is a bare name without parentheses
};
struct ForFields : Stmt {
  const Expr *target = nullptr;
  const Expr *iter = nullptr;
  Body body;
  Body orelse;

protected:
  using Stmt::Stmt;
};
struct For : StmtNode<StmtKind::For, ForFields> {};
struct AsyncFor : StmtNode<StmtKind::AsyncFor, ForFields> {};
struct While : StmtNode<StmtKind::While> {
  const Expr *test = nullptr;
  Body body;
  Body orelse;
};
/// `elif` is an If as the only statement of `orelse`.
struct If : StmtNode<StmtKind::If> {
  const Expr *test = nullptr;
  Body body;
  Body orelse;
};
struct WithFields : Stmt {
  Seq<const WithItem *> items;
  Body body;

protected:
  using Stmt::Stmt;
};
struct With : StmtNode<StmtKind::With, WithFields> {};
struct AsyncWith : StmtNode<StmtKind::AsyncWith, WithFields> {};
struct Match : StmtNode<StmtKind::Match> {
  const Expr *subject = nullptr;
  Seq<const MatchCase *> cases;
};
struct Raise : StmtNode<StmtKind::Raise> {
  const Expr *exc = nullptr;   ///< optional
  const Expr *cause = nullptr; ///< optional
};
struct TryFields : Stmt {
  Body body;
  Seq<const ExceptHandler *> handlers;
  Body orelse;
  Body finalbody;

protected:
  using Stmt::Stmt;
};
struct Try : StmtNode<StmtKind::Try, TryFields> {};
/// With `except*`.
struct TryStar : StmtNode<StmtKind::TryStar, TryFields> {};
struct Assert : StmtNode<StmtKind::Assert> {
  const Expr *test = nullptr;
  const Expr *msg = nullptr; ///< optional
};
struct Import : StmtNode<StmtKind::Import> {
  Seq<const Alias *> names;
};
struct ImportFrom : StmtNode<StmtKind::ImportFrom> {
  Identifier module; ///< empty for `from . import x`
  Seq<const Alias *> names;
  uint32_t level = 0; ///< leading dots
};
struct Global : StmtNode<StmtKind::Global> {
  Seq<Identifier> names;
};
struct Nonlocal : StmtNode<StmtKind::Nonlocal> {
  Seq<Identifier> names;
};
/// An expression as a statement (CPython's `Expr`).
struct ExprStmt : StmtNode<StmtKind::Expr> {
  const Expr *value = nullptr;
};
struct Pass : StmtNode<StmtKind::Pass> {};
struct Break : StmtNode<StmtKind::Break> {};
struct Continue : StmtNode<StmtKind::Continue> {};

//===-- Patterns
//--------------------------------------------------------------------------------------------===//

struct MatchValue : PatternNode<PatternKind::MatchValue> {
  const Expr *value = nullptr;
};
/// None, True or False.
struct MatchSingleton : PatternNode<PatternKind::MatchSingleton> {
  Constant::Value value;
};
struct MatchSequence : PatternNode<PatternKind::MatchSequence> {
  Seq<const Pattern *> patterns;
};
struct MatchMapping : PatternNode<PatternKind::MatchMapping> {
  Seq<const Expr *> keys;
  Seq<const Pattern *> patterns;
  Identifier rest;
};
struct MatchClass : PatternNode<PatternKind::MatchClass> {
  const Expr *cls = nullptr;
  Seq<const Pattern *> patterns;
  Seq<Identifier> kwdAttrs;
  Seq<const Pattern *> kwdPatterns;
};
struct MatchStar : PatternNode<PatternKind::MatchStar> {
  Identifier name;
};
/// `pattern as name`, a bare capture, or `_` (both empty).
struct MatchAs : PatternNode<PatternKind::MatchAs> {
  const Pattern *pattern = nullptr;
  Identifier name;
};
struct MatchOr : PatternNode<PatternKind::MatchOr> {
  Seq<const Pattern *> patterns;
};

//===-- Type parameters
//-------------------------------------------------------------------------------------===//

struct TypeVar : TypeParamNode<TypeParamKind::TypeVar> {
  const Expr *bound = nullptr;
};
struct ParamSpec : TypeParamNode<TypeParamKind::ParamSpec> {};
struct TypeVarTuple : TypeParamNode<TypeParamKind::TypeVarTuple> {};

//===-- Roots
//-----------------------------------------------------------------------------------------------===//

/// A parsed file. Owns its text and its nodes; movable, and moving it keeps every node where it is.
struct Module {
  /// The text that the ranges speak of: UTF-8 without a byte order mark. It is the file that was given to the
  /// parser, unless that one had a mark or an encoding cookie; then it is the decoded text under the same
  /// path.
  SourceFilePtr source;
  std::unique_ptr<AstArena> arena;
  Body body;
};

/// A parsed lone expression, e.g. a grid given on the command line.
struct ExpressionModule {
  SourceFilePtr source;
  std::unique_ptr<AstArena> arena;
  const Expr *body = nullptr;
};

} // namespace tilewright::lang
