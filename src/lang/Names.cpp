#include "tilewright/lang/Ast.h"

namespace tilewright::lang {

namespace {

constexpr std::string_view kExprs[] = {
    "BoolOp",    "NamedExpr",     "BinOp",       "UnaryOp",  "Lambda",    "IfExp",
    "Dict",      "Set",           "ListComp",    "SetComp",  "DictComp",  "GeneratorExp",
    "Await",     "Yield",         "YieldFrom",   "Compare",  "Call",      "FormattedValue",
    "JoinedStr", "Interpolation", "TemplateStr", "Constant", "Attribute", "Subscript",
    "Starred",   "Name",          "List",        "Tuple",    "Slice",
};
constexpr std::string_view kStmts[] = {
    "FunctionDef", "AsyncFunctionDef",
    "ClassDef",    "Return",
    "Delete",      "Assign",
    "TypeAlias",   "AugAssign",
    "AnnAssign",   "For",
    "AsyncFor",    "While",
    "If",          "With",
    "AsyncWith",   "Match",
    "Raise",       "Try",
    "TryStar",     "Assert",
    "Import",      "ImportFrom",
    "Global",      "Nonlocal",
    "Expr",        "Pass",
    "Break",       "Continue",
};
constexpr std::string_view kPatterns[] = {"MatchValue", "MatchSingleton", "MatchSequence", "MatchMapping",
                                          "MatchClass", "MatchStar",      "MatchAs",       "MatchOr"};
constexpr std::string_view kTypeParams[] = {"TypeVar", "ParamSpec", "TypeVarTuple"};
constexpr std::string_view kBoolOps[] = {"And", "Or"};
constexpr std::string_view kBinaryOps[] = {"Add",    "Sub",    "Mult",  "MatMult", "Div",    "Mod",     "Pow",
                                           "LShift", "RShift", "BitOr", "BitXor",  "BitAnd", "FloorDiv"};
constexpr std::string_view kUnaryOps[] = {"Invert", "Not", "UAdd", "USub"};
constexpr std::string_view kCompareOps[] = {"Eq",  "NotEq", "Lt",    "LtE", "Gt",
                                            "GtE", "Is",    "IsNot", "In",  "NotIn"};

constexpr std::string_view kBoolTexts[] = {"and", "or"};
constexpr std::string_view kBinaryTexts[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                             "<<", ">>", "|", "^", "&", "//"};
constexpr std::string_view kUnaryTexts[] = {"~", "not", "+", "-"};
constexpr std::string_view kCompareTexts[] = {"==", "!=", "<",      "<=", ">",
                                              ">=", "is", "is not", "in", "not in"};

template <class Kind, size_t N> std::string_view at(const std::string_view (&names)[N], Kind kind) {
  return names[static_cast<size_t>(kind)];
}

} // namespace

std::string_view nodeName(ExprKind kind) { return at(kExprs, kind); }
std::string_view nodeName(StmtKind kind) { return at(kStmts, kind); }
std::string_view nodeName(PatternKind kind) { return at(kPatterns, kind); }
std::string_view nodeName(TypeParamKind kind) { return at(kTypeParams, kind); }
std::string_view operatorName(BoolOperator op) { return at(kBoolOps, op); }
std::string_view operatorName(BinaryOperator op) { return at(kBinaryOps, op); }
std::string_view operatorName(UnaryOperator op) { return at(kUnaryOps, op); }
std::string_view operatorName(CompareOperator op) { return at(kCompareOps, op); }
std::string_view operatorText(BoolOperator op) { return at(kBoolTexts, op); }
std::string_view operatorText(BinaryOperator op) { return at(kBinaryTexts, op); }
std::string_view operatorText(UnaryOperator op) { return at(kUnaryTexts, op); }
std::string_view operatorText(CompareOperator op) { return at(kCompareTexts, op); }

} // namespace tilewright::lang
