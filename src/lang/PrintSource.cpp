#include "tilewright/lang/PrintSource.h"
#include "PythonRepr.h"

#include <fmt/format.h>

namespace tilewright::lang {

namespace {

/// How tightly an expression binds; an operand that binds less tightly than its place asks for gets
/// parentheses.
enum Level {
  kTupleLevel, // a, b   and   yield
  kNamed,      // a := b
  kTernary,    // a if b else c, lambda
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kAwait,
  kPrimary,
};

Level levelOf(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::BitOr:
    return kBitOr;
  case BinaryOperator::BitXor:
    return kBitXor;
  case BinaryOperator::BitAnd:
    return kBitAnd;
  case BinaryOperator::LShift:
  case BinaryOperator::RShift:
    return kShift;
  case BinaryOperator::Add:
  case BinaryOperator::Sub:
    return kSum;
  case BinaryOperator::Pow:
    return kPower;
  default:
    return kProduct;
  }
}

Level levelOf(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Yield:
  case ExprKind::YieldFrom:
    return kTupleLevel;
  case ExprKind::Tuple:
    return cast<Tuple>(&expr)->elts.empty() ? kPrimary : kTupleLevel;
  case ExprKind::NamedExpr:
    return kNamed;
  case ExprKind::IfExp:
  case ExprKind::Lambda:
    return kTernary;
  case ExprKind::BoolOp:
    return cast<BoolOp>(&expr)->op == BoolOperator::Or ? kOr : kAnd;
  case ExprKind::UnaryOp:
    return cast<UnaryOp>(&expr)->op == UnaryOperator::Not ? kNot : kUnary;
  case ExprKind::Compare:
    return kCompare;
  case ExprKind::BinOp:
    return levelOf(cast<BinOp>(&expr)->op);
  case ExprKind::Await:
    return kAwait;
  default:
    return kPrimary;
  }
}

class SourcePrinter {
public:
  std::string take() { return std::move(out_); }

  void print(const Expr *expr, Level needed) {
    const bool parenthesize = levelOf(*expr) < needed;
    if (parenthesize)
      out_ += '(';
    printBare(*expr);
    if (parenthesize)
      out_ += ')';
  }

private:
  std::string out_;

  template <class T, class Print> void join(Seq<T> items, Print &&print) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i)
        out_ += ", ";
      print(items[i]);
    }
  }
  void printItems(Seq<const Expr *> items, Level needed = kTernary) {
    join(items, [&](const Expr *item) { print(item, needed); });
  }

  void printBare(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::BoolOp:
      return printBoolOp(*cast<BoolOp>(&expr));
    case ExprKind::NamedExpr:
      print(cast<NamedExpr>(&expr)->target, kPrimary);
      out_ += " := ";
      return print(cast<NamedExpr>(&expr)->value, kTernary);
    case ExprKind::BinOp:
      return printBinOp(*cast<BinOp>(&expr));
    case ExprKind::UnaryOp: {
      const auto *n = cast<UnaryOp>(&expr);
      out_ += operatorText(n->op);
      if (n->op == UnaryOperator::Not)
        out_ += ' ';
      return print(n->operand, n->op == UnaryOperator::Not ? kNot : kUnary);
    }
    case ExprKind::Lambda: {
      const auto *n = cast<Lambda>(&expr);
      out_ += "lambda";
      const size_t before = out_.size();
      printParameters(*n->args);
      if (out_.size() > before)
        out_.insert(before, " ");
      out_ += ": ";
      return print(n->body, kTernary);
    }
    case ExprKind::IfExp: {
      const auto *n = cast<IfExp>(&expr);
      print(n->body, kOr);
      out_ += " if ";
      print(n->test, kOr);
      out_ += " else ";
      return print(n->orelse, kTernary);
    }
    case ExprKind::Dict:
      return printDict(*cast<Dict>(&expr));
    case ExprKind::Set:
      out_ += '{';
      printItems(cast<Set>(&expr)->elts);
      out_ += '}';
      return;
    case ExprKind::ListComp:
      return printComprehension('[', cast<ListComp>(&expr)->elt, cast<ListComp>(&expr)->generators, ']');
    case ExprKind::SetComp:
      return printComprehension('{', cast<SetComp>(&expr)->elt, cast<SetComp>(&expr)->generators, '}');
    case ExprKind::GeneratorExp:
      return printComprehension('(', cast<GeneratorExp>(&expr)->elt, cast<GeneratorExp>(&expr)->generators,
                                ')');
    case ExprKind::DictComp: {
      const auto *n = cast<DictComp>(&expr);
      out_ += '{';
      print(n->key, kTernary);
      out_ += ": ";
      print(n->value, kTernary);
      printGenerators(n->generators);
      out_ += '}';
      return;
    }
    case ExprKind::Await:
      out_ += "await ";
      return print(cast<Await>(&expr)->value, kPrimary);
    case ExprKind::Yield:
      out_ += "yield";
      if (const Expr *value = cast<Yield>(&expr)->value) {
        out_ += ' ';
        print(value, value->kind == ExprKind::Tuple ? kTupleLevel : kTernary);
      }
      return;
    case ExprKind::YieldFrom:
      out_ += "yield from ";
      return print(cast<YieldFrom>(&expr)->value, kTernary);
    case ExprKind::Compare: {
      const auto *n = cast<Compare>(&expr);
      print(n->left, kBitOr);
      for (size_t i = 0; i < n->ops.size(); ++i) {
        out_ += fmt::format(" {} ", operatorText(n->ops[i]));
        print(n->comparators[i], kBitOr);
      }
      return;
    }
    case ExprKind::Call:
      return printCall(*cast<Call>(&expr));
    case ExprKind::Attribute: {
      const auto *n = cast<Attribute>(&expr);
      const auto *constant = dynCast<Constant>(n->value);
      const bool integer =
          constant && (constant->asInt() || std::holds_alternative<BigIntValue>(constant->value));
      if (integer) // 1.real would be a float
        out_ += '(';
      print(n->value, kPrimary);
      out_ += integer ? ")." : ".";
      out_ += n->attr;
      return;
    }
    case ExprKind::Subscript:
      return printSubscript(*cast<Subscript>(&expr));
    case ExprKind::Starred:
      out_ += '*';
      return print(cast<Starred>(&expr)->value, kBitOr);
    case ExprKind::Name:
      out_ += cast<Name>(&expr)->id;
      return;
    case ExprKind::List:
      out_ += '[';
      printItems(cast<List>(&expr)->elts);
      out_ += ']';
      return;
    case ExprKind::Tuple: {
      const auto elts = cast<Tuple>(&expr)->elts;
      if (elts.empty())
        out_ += "()";
      printItems(elts);
      if (elts.size() == 1)
        out_ += ',';
      return;
    }
    case ExprKind::Slice: {
      const auto *n = cast<Slice>(&expr);
      if (n->lower)
        print(n->lower, kTernary);
      out_ += ':';
      if (n->upper)
        print(n->upper, kTernary);
      if (n->step) {
        out_ += ':';
        print(n->step, kTernary);
      }
      return;
    }
    case ExprKind::Constant:
      return printConstant(*cast<Constant>(&expr));
    case ExprKind::JoinedStr:
    case ExprKind::TemplateStr:
    case ExprKind::FormattedValue:
    case ExprKind::Interpolation:
      // Quoting inside of f-strings depends on the Python version; the user's own text is the best text.
      for (const char c : expr.range.text())
        out_ += c == '\n' || c == '\r' ? ' ' : c;
      return;
    }
  }

  void printBoolOp(const BoolOp &n) {
    const Level level = n.op == BoolOperator::Or ? kOr : kAnd;
    for (size_t i = 0; i < n.values.size(); ++i) {
      if (i)
        out_ += fmt::format(" {} ", operatorText(n.op));
      print(n.values[i], static_cast<Level>(level + 1));
    }
  }

  void printBinOp(const BinOp &n) {
    const Level level = levelOf(n.op);
    const auto tighter = static_cast<Level>(level + 1);
    const bool power = n.op == BinaryOperator::Pow;
    print(n.left, power ? kAwait : level);
    out_ += power ? "**" : fmt::format(" {} ", operatorText(n.op));
    print(n.right, power ? kUnary : tighter);
  }

  void printDict(const Dict &n) {
    out_ += '{';
    for (size_t i = 0; i < n.keys.size(); ++i) {
      if (i)
        out_ += ", ";
      if (n.keys[i]) {
        print(n.keys[i], kTernary);
        out_ += ": ";
        print(n.values[i], kTernary);
      } else {
        out_ += "**";
        print(n.values[i], kBitOr);
      }
    }
    out_ += '}';
  }

  void printGenerators(Seq<const Comprehension *> generators) {
    for (const Comprehension *generator : generators) {
      out_ += generator->isAsync ? " async for " : " for ";
      print(generator->target, generator->target->kind == ExprKind::Tuple ? kTupleLevel : kBitOr);
      out_ += " in ";
      print(generator->iter, kOr);
      for (const Expr *condition : generator->ifs) {
        out_ += " if ";
        print(condition, kOr);
      }
    }
  }
  void printComprehension(char open, const Expr *elt, Seq<const Comprehension *> generators, char close) {
    out_ += open;
    print(elt, kNamed);
    printGenerators(generators);
    out_ += close;
  }

  void printCall(const Call &n) {
    print(n.func, kPrimary);
    if (n.args.size() == 1 && n.keywords.empty() && isa<GeneratorExp>(n.args[0]))
      return print(n.args[0], kPrimary); // its own parentheses are the call's
    out_ += '(';
    join(n.args, [&](const Expr *arg) {
      if (const auto *starred = dynCast<Starred>(arg)) {
        out_ += '*';
        print(starred->value, kTernary);
      } else {
        print(arg, kNamed);
      }
    });
    if (!n.args.empty() && !n.keywords.empty())
      out_ += ", ";
    join(n.keywords, [&](const Keyword *keyword) {
      out_ += keyword->arg.empty() ? "**" : fmt::format("{}=", keyword->arg);
      print(keyword->value, kTernary);
    });
    out_ += ')';
  }

  void printSubscript(const Subscript &n) {
    print(n.value, kPrimary);
    out_ += '[';
    if (const auto *tuple = dynCast<Tuple>(n.slice); tuple && !tuple->elts.empty()) {
      printItems(tuple->elts);
      if (tuple->elts.size() == 1)
        out_ += ',';
    } else {
      print(n.slice, kTernary);
    }
    out_ += ']';
  }

  void printConstant(const Constant &n) {
    if (const auto *value = n.asFloat(); value && *value > 1.7976931348623157e308) {
      out_ += "1e999";
    } else if (const auto *imaginary = std::get_if<ImaginaryValue>(&n.value);
               imaginary && imaginary->imag > 1.7976931348623157e308) {
      out_ += "1e999j";
    } else if (std::holds_alternative<EllipsisValue>(n.value)) {
      out_ += "...";
    } else {
      if (n.unicodePrefix)
        out_ += 'u';
      appendRepr(out_, n.value);
    }
  }

  void printParameters(const Arguments &arguments) {
    bool first = true;
    const auto separate = [&] {
      if (!first)
        out_ += ", ";
      first = false;
    };
    const size_t positional = arguments.posonlyargs.size() + arguments.args.size();
    for (size_t i = 0; i < positional; ++i) {
      const bool before = i < arguments.posonlyargs.size();
      separate();
      out_ += (before ? arguments.posonlyargs[i] : arguments.args[i - arguments.posonlyargs.size()])->arg;
      if (i + arguments.defaults.size() >= positional)
        printDefault(arguments.defaults[i + arguments.defaults.size() - positional]);
      if (i + 1 == arguments.posonlyargs.size())
        out_ += ", /";
    }
    if (arguments.vararg || !arguments.kwonlyargs.empty()) {
      separate();
      out_ += '*';
      if (arguments.vararg)
        out_ += arguments.vararg->arg;
    }
    for (size_t i = 0; i < arguments.kwonlyargs.size(); ++i) {
      separate();
      out_ += arguments.kwonlyargs[i]->arg;
      if (arguments.kwDefaults[i])
        printDefault(arguments.kwDefaults[i]);
    }
    if (arguments.kwarg) {
      separate();
      out_ += "**";
      out_ += arguments.kwarg->arg;
    }
  }
  void printDefault(const Expr *value) {
    out_ += '=';
    print(value, kTernary);
  }
};

} // namespace

std::string printSource(const Expr &expr) {
  SourcePrinter printer;
  printer.print(&expr, expr.kind == ExprKind::Tuple || expr.kind == ExprKind::Yield ||
                               expr.kind == ExprKind::YieldFrom || expr.kind == ExprKind::NamedExpr
                           ? kTernary
                           : kTupleLevel);
  return printer.take();
}

} // namespace tilewright::lang
