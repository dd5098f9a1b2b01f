#include "ParameterUse.h"

#include "AstWalk.h"

#include <algorithm>
#include <array>
#include <map>

namespace tilewright::lowering {

using namespace lang;

namespace {

class UseScan {
public:
  const ParameterUse &of(const JitFunction &function) {
    const auto [slot, isNew] = known_.try_emplace(&function);
    if (!isNew) // also a function that calls itself: what is known so far
      return slot->second;
    // Assignments carry uses from a variable to what it was computed from; a few rounds follow any sane
    // chain.
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      const auto size = [&] {
        const ParameterUse &use = known_[&function];
        return use.pointers.size() + use.sizes.size() + use.integers.size() + use.dtypes.size() +
               use.sequences.size() + use.descriptors.size();
      };
      const size_t before = size();
      scan(function, known_[&function]);
      if (size() == before)
        break;
    }
    return known_[&function];
  }

private:
  static bool isOneOf(std::string_view text, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), text) != names.end();
  }

  /// What a function's names are assigned, and which of them it is given at run time.
  struct Names {
    std::map<std::string_view, std::vector<const Expr *>> assigned;
    std::set<std::string_view> given;
  };
  const Names &namesOf(const JitFunction &function) {
    const auto [slot, isNew] = names_.try_emplace(&function);
    Names &names = slot->second;
    if (!isNew)
      return names;
    for (const auto list :
         {function.def->args->posonlyargs, function.def->args->args, function.def->args->kwonlyargs})
      for (const Arg *arg : list)
        if (!arg->annotation || arg->annotation->range.text().find("constexpr") == std::string_view::npos)
          names.given.insert(arg->arg);
    const auto add = [&](const Expr *target, const Expr *value) {
      if (const auto *name = dynCast<Name>(target); name && value)
        names.assigned[name->id].push_back(value);
    };
    walkBody(
        function.def->body,
        [&](const Stmt &stmt) {
          if (const auto *assign = dynCast<Assign>(&stmt))
            for (const Expr *target : assign->targets)
              add(target, assign->value);
          else if (const auto *annotated = dynCast<AnnAssign>(&stmt))
            add(annotated->target, annotated->value);
        },
        [](const Expr &) {});
    return names;
  }

  /// A function's statements and expressions in the order of the source, and what its calls name: looked up
  /// once, however many rounds go through them.
  struct Part {
    const Stmt *stmt = nullptr;
    const Expr *expr = nullptr;
    std::string callee; ///< of a call: the dotted path, without `triton.language.`
    const JitFunction *helper = nullptr;
  };
  const std::vector<Part> &partsOf(const JitFunction &function) {
    const auto [slot, isNew] = parts_.try_emplace(&function);
    std::vector<Part> &parts = slot->second;
    if (!isNew)
      return parts;
    walkBody(
        function.def->body, [&](const Stmt &stmt) { parts.push_back({&stmt, nullptr, {}, nullptr}); },
        [&](const Expr &expr) {
          Part part{nullptr, &expr, {}, nullptr};
          if (const auto *call = dynCast<Call>(&expr)) {
            constexpr std::string_view kLanguage = "triton.language.";
            part.callee = function.scope->resolve(call->func);
            if (part.callee.starts_with(kLanguage))
              part.callee.erase(0, kLanguage.size());
            part.helper = function.scope->functionOf(call->func);
          }
          parts.push_back(std::move(part));
        });
    return parts;
  }

  /// Whether an expression may be an address, by its form: products and constants are none.
  bool mayBePointer(const Names &names, const Expr *expr, int depth = 0) const {
    constexpr int kMaxDepth = 12;
    if (!expr || depth > kMaxDepth)
      return false;
    const auto may = [&](const Expr *e) { return mayBePointer(names, e, depth + 1); };
    if (const auto *name = dynCast<Name>(expr)) {
      if (names.given.count(name->id))
        return true;
      const auto assigned = names.assigned.find(name->id);
      return assigned != names.assigned.end() &&
             std::any_of(assigned->second.begin(), assigned->second.end(), [&](const Expr *value) {
               const auto *self = dynCast<Name>(value);
               return !(self && self->id == name->id) && may(value);
             });
    }
    if (const auto *op = dynCast<BinOp>(expr))
      return (op->op == BinaryOperator::Add && (may(op->left) || may(op->right))) ||
             (op->op == BinaryOperator::Sub && may(op->left));
    if (const auto *choice = dynCast<IfExp>(expr))
      return may(choice->body) || may(choice->orelse);
    if (const auto *subscript = dynCast<Subscript>(expr))
      return may(subscript->value);
    if (const auto *call = dynCast<Call>(expr)) {
      if (const auto *method = dynCast<lang::Attribute>(call->func); method && method->attr == "to")
        return !call->args.empty() && call->args[0]->range.text().find("pointer") != std::string_view::npos;
      const std::string_view function = call->func->range.text();
      const auto ends = [&](std::string_view end) { return function.ends_with(end); };
      return (ends("where") || ends("multiple_of") || ends("max_contiguous") || ends("broadcast_to") ||
              ends("load")) &&
             std::any_of(call->args.begin(), call->args.end(), may);
    }
    return false;
  }

  /// The pointers in an address: of a sum the first term that may be one; behind casts, choices and
  /// subscripts too.
  void addPointer(const JitFunction &function, ParameterUse &use, const Expr *expr) {
    const Names &names = namesOf(function);
    while (expr) {
      if (const auto *name = dynCast<Name>(expr)) {
        use.pointers.emplace(name->id);
        return;
      }
      if (const auto *op = dynCast<BinOp>(expr)) {
        if (op->op == BinaryOperator::Add && !mayBePointer(names, op->left))
          expr = op->right;
        else if (op->op == BinaryOperator::Add || op->op == BinaryOperator::Sub)
          expr = op->left;
        else
          return;
      } else if (const auto *subscript = dynCast<Subscript>(expr)) {
        expr = subscript->value;
      } else if (const auto *choice = dynCast<IfExp>(expr)) {
        addPointer(function, use, choice->body);
        expr = choice->orelse;
      } else if (const auto *call = dynCast<Call>(expr)) {
        if (call->func->range.text().ends_with("where") && call->args.size() == 3) {
          addPointer(function, use, call->args[1]);
          expr = call->args[2];
        } else {
          expr = isa<lang::Attribute>(call->func) && !isa<Name>(cast<lang::Attribute>(call->func)->value)
                     ? cast<lang::Attribute>(call->func)->value
                 : call->args.empty() ? nullptr
                                      : call->args[0];
        }
      } else {
        return;
      }
    }
  }

  /// What is an integer because it is used as an index, a bound or a divisor; of a load, what it loads from.
  void addInteger(const JitFunction &function, ParameterUse &use, const Expr *expr) {
    if (const auto *name = dynCast<Name>(expr)) {
      use.integers.emplace(name->id);
    } else if (const auto *op = dynCast<BinOp>(expr)) {
      addInteger(function, use, op->left);
      addInteger(function, use, op->right);
    } else if (const auto *unary = dynCast<UnaryOp>(expr)) {
      if (unary->op == UnaryOperator::USub || unary->op == UnaryOperator::Invert)
        addInteger(function, use, unary->operand);
    } else if (const auto *choice = dynCast<IfExp>(expr)) {
      addInteger(function, use, choice->body);
      addInteger(function, use, choice->orelse);
    } else if (const auto *subscript = dynCast<Subscript>(expr)) {
      addInteger(function, use, subscript->value);
    } else if (const auto *call = dynCast<Call>(expr)) {
      const std::string_view callee = call->func->range.text();
      const auto ends = [&](std::initializer_list<std::string_view> names) {
        return std::any_of(names.begin(), names.end(),
                           [&](std::string_view n) { return callee.ends_with(n); });
      };
      if (ends({"load"}) && !call->args.empty()) {
        ParameterUse address;
        addPointer(function, address, call->args[0]);
        use.integers.insert(address.pointers.begin(), address.pointers.end());
      } else if (ends({"minimum", "maximum", "min", "max", "cdiv", "multiple_of", "broadcast_to",
                       "reshape"})) {
        for (const Expr *argument : call->args)
          addInteger(function, use, argument);
      } else if (ends({"where"}) && call->args.size() == 3) {
        addInteger(function, use, call->args[1]);
        addInteger(function, use, call->args[2]);
      }
    }
  }

  /// The terms of a sum that are not its pointer.
  void addOffsets(const JitFunction &function, ParameterUse &use, const Expr *expr) {
    const auto *op = dynCast<BinOp>(expr);
    if (!op || (op->op != BinaryOperator::Add && op->op != BinaryOperator::Sub))
      return;
    const Names &names = namesOf(function);
    const bool rightIsBase = op->op == BinaryOperator::Add && !mayBePointer(names, op->left);
    addOffsets(function, use, rightIsBase ? op->right : op->left);
    addInteger(function, use, rightIsBase ? op->left : op->right);
  }

  static void addItems(ParameterUse &use, const Expr *expr, size_t count) {
    if (const auto *name = dynCast<Name>(expr)) {
      size_t &known = use.sequences.try_emplace(std::string(name->id), 0).first->second;
      known = std::max(known, count);
    }
  }

  static void addNames(ParameterUse::Names &names, const Expr *expr) {
    if (const auto *name = dynCast<Name>(expr))
      names.emplace(name->id);
  }

  /// Names that are factors of the expression: a product that isn't zero has no factor that is.
  static void addSize(ParameterUse &use, const Expr *expr) {
    if (const auto *name = dynCast<Name>(expr)) {
      use.sizes.emplace(name->id);
    } else if (const auto *op = dynCast<BinOp>(expr)) {
      if (op->op == BinaryOperator::Mult || op->op == BinaryOperator::FloorDiv) {
        addSize(use, op->left);
        addSize(use, op->right);
      }
    } else if (const auto *tuple = dynCast<Tuple>(expr)) {
      for (const Expr *e : tuple->elts)
        addSize(use, e);
    } else if (const auto *list = dynCast<List>(expr)) {
      for (const Expr *e : list->elts)
        addSize(use, e);
    }
  }

  static void addFlag(ParameterUse &use, const Expr *expr) {
    if (const auto *name = dynCast<Name>(expr)) {
      use.flags.emplace(name->id);
    } else if (const auto *op = dynCast<UnaryOp>(expr)) {
      if (op->op == UnaryOperator::Not)
        addFlag(use, op->operand);
    } else if (const auto *both = dynCast<BoolOp>(expr)) {
      for (const Expr *e : both->values)
        addFlag(use, e);
    } else if (const auto *compare = dynCast<Compare>(expr)) {
      for (const Expr *other : compare->comparators)
        if (const auto *constant = dynCast<Constant>(other); constant && constant->asBool())
          addFlag(use, compare->left);
    }
  }

  /// `x == "gelu"`, `x in (0, 2)`.
  static void addCompared(ParameterUse &use, const Compare *compare) {
    const auto add = [&](const Expr *side, const Expr *other) {
      const auto *name = dynCast<Name>(side);
      const auto *constant = dynCast<Constant>(other);
      if (!name || !constant)
        return;
      const auto once = [](auto &list, const auto &value) {
        if (std::find(list.begin(), list.end(), value) == list.end())
          list.push_back(value);
      };
      if (const auto *text = constant->asStr())
        once(use.texts[std::string(name->id)], std::string(*text));
      else if (const auto *integer = constant->asInt())
        once(use.numbers[std::string(name->id)], *integer);
    };
    for (const Expr *other : compare->comparators) {
      add(compare->left, other);
      add(other, compare->left);
      if (const auto *tuple = dynCast<Tuple>(other))
        for (const Expr *e : tuple->elts)
          add(compare->left, e);
      if (const auto *list = dynCast<List>(other))
        for (const Expr *e : list->elts)
          add(compare->left, e);
    }
  }

  void call(const JitFunction &function, ParameterUse &use, const Call *expr, const Part &part) {
    const std::string_view name = part.callee;
    const auto argument = [&](size_t position, std::string_view keyword) -> const Expr * {
      if (position < expr->args.size())
        return expr->args[position];
      for (const Keyword *k : expr->keywords)
        if (k->arg == keyword)
          return k->value;
      return nullptr;
    };
    if (const auto *method = dynCast<lang::Attribute>(expr->func); method && method->attr == "to")
      addNames(use.dtypes, argument(0, "dtype"));
    // `desc.load([y, x])`; a pointer has no such method.
    if (const auto *method = dynCast<lang::Attribute>(expr->func);
        method && isOneOf(method->attr, {"load", "store", "atomic_add", "atomic_min", "atomic_max"}))
      if (const auto *object = dynCast<Name>(method->value);
          object && namesOf(function).given.count(object->id))
        if (const Expr *offsets = argument(0, "offsets")) {
          if (const auto *list = dynCast<List>(offsets))
            use.descriptors.emplace(object->id, list->elts.size());
          else if (const auto *tuple = dynCast<Tuple>(offsets))
            use.descriptors.emplace(object->id, tuple->elts.size());
        }
    if (name == "len")
      addItems(use, argument(0, "obj"), 0);
    for (const Expr *given : expr->args)
      if (const auto *starred = dynCast<Starred>(given))
        addItems(use, starred->value, 0);
    if (isOneOf(name, {"cast", "zeros", "full"}))
      addNames(use.dtypes, argument(name == "full" ? 2 : 1, "dtype"));
    for (const Keyword *keyword : expr->keywords)
      if (isOneOf(keyword->arg, {"cache_modifier", "eviction_policy", "input_precision", "padding_option"}))
        addNames(use.options, keyword->value);
    if (isOneOf(name, {"range", "static_range", "cdiv", "triton.cdiv"}))
      for (const Expr *bound : expr->args)
        addInteger(function, use, bound);
    if (name == "static_range")
      for (const Expr *bound : expr->args)
        addNames(use.unrolled, bound);
    if (isOneOf(name, {"load", "store"}) || name.substr(0, 7) == "atomic_") {
      addPointer(function, use, argument(0, "pointer"));
      addOffsets(function, use, argument(0, "pointer"));
    } else if (isOneOf(name, {"make_block_ptr", "make_tensor_descriptor"})) {
      addPointer(function, use, argument(0, "base"));
      addSize(use, argument(name == "make_block_ptr" ? 4 : 3, "block_shape"));
    } else if (name == "arange")
      addSize(use, argument(1, "end"));
    else if (isOneOf(name, {"zeros", "full"}))
      addSize(use, argument(0, "shape"));
    else if (isOneOf(name, {"cdiv", "triton.cdiv"}))
      addSize(use, argument(1, "div"));
    else if (isOneOf(name, {"range", "static_range"}))
      addSize(use, argument(2, "step"));
    else if (const JitFunction *helper = part.helper) {
      const ParameterUse &inner = of(*helper);
      const Arguments &formals = *helper->def->args;
      size_t position = 0;
      for (const auto list : {formals.posonlyargs, formals.args, formals.kwonlyargs})
        for (const Arg *formal : list) {
          const Expr *actual = argument(position++, formal->arg);
          if (!actual)
            continue;
          if (inner.pointers.count(formal->arg))
            addPointer(function, use, actual);
          if (inner.sizes.count(formal->arg))
            addSize(use, actual);
          // Of a pointer that a helper loads integers through, and of an integer itself.
          if (inner.integers.count(formal->arg)) {
            if (inner.pointers.count(formal->arg)) {
              ParameterUse address;
              addPointer(function, address, actual);
              use.integers.insert(address.pointers.begin(), address.pointers.end());
            } else {
              addInteger(function, use, actual);
            }
          }
          if (inner.dtypes.count(formal->arg))
            addNames(use.dtypes, actual);
          if (const auto items = inner.sequences.find(formal->arg); items != inner.sequences.end())
            addItems(use, actual, items->second);
          if (const auto rank = inner.descriptors.find(formal->arg); rank != inner.descriptors.end())
            if (const auto *passed = dynCast<Name>(actual))
              use.descriptors.emplace(passed->id, rank->second);
          if (inner.options.count(formal->arg))
            addNames(use.options, actual);
          if (inner.unrolled.count(formal->arg))
            addNames(use.unrolled, actual);
          if (inner.flags.count(formal->arg))
            addFlag(use, actual);
          if (const auto *name = dynCast<Name>(actual)) {
            const std::string key(name->id);
            if (const auto texts = inner.texts.find(formal->arg); texts != inner.texts.end())
              use.texts.emplace(key, texts->second);
            if (const auto numbers = inner.numbers.find(formal->arg); numbers != inner.numbers.end())
              use.numbers.emplace(key, numbers->second);
          }
        }
    }
  }

  /// Carries what a name is used for to what it is assigned.
  void flow(const JitFunction &function, ParameterUse &use, std::string_view name, const Expr *value) {
    if (use.pointers.count(name)) {
      addOffsets(function, use, value);
      if (use.integers.count(name)) { // loads through it give integers
        ParameterUse address;
        addPointer(function, address, value);
        use.integers.insert(address.pointers.begin(), address.pointers.end());
      }
    } else if (use.integers.count(name)) {
      addInteger(function, use, value);
    }
    if (use.dtypes.count(name))
      addNames(use.dtypes, value);
    if (const auto items = use.sequences.find(name); items != use.sequences.end()) {
      addItems(use, value, items->second);
      // `strides = widened(strides)`: what becomes a tuple is made of one
      if (const auto *call = dynCast<Call>(value); call && !call->args.empty())
        if (const auto *given = dynCast<Name>(call->args[0]); given && use.sequences.count(given->id))
          addItems(use, given, items->second);
    }
  }

  void scan(const JitFunction &function, ParameterUse &use) {
    for (const Part &part : partsOf(function)) {
      if (part.stmt)
        scanStatement(function, use, *part.stmt);
      else
        scanExpression(function, use, *part.expr, part);
    }
  }

  /// What is known of a variable is known of what it gets.
  void scanAssignment(const JitFunction &function, ParameterUse &use, const Expr *target, const Expr *value) {
    const auto *name = dynCast<Name>(target);
    if (!name)
      return;
    if (use.pointers.count(name->id))
      addPointer(function, use, value);
    if (use.sizes.count(name->id))
      addSize(use, value);
    flow(function, use, name->id, value);
  }

  void scanStatement(const JitFunction &function, ParameterUse &use, const Stmt &stmt) {
    if (const auto *branch = dynCast<If>(&stmt)) {
      addFlag(use, branch->test);
    } else if (const auto *assign = dynCast<Assign>(&stmt)) {
      for (const Expr *target : assign->targets)
        scanAssignment(function, use, target, assign->value);
    } else if (const auto *annotated = dynCast<AnnAssign>(&stmt)) {
      if (annotated->value)
        scanAssignment(function, use, annotated->target, annotated->value);
    } else if (const auto *augmented = dynCast<AugAssign>(&stmt)) {
      if (augmented->op == BinaryOperator::FloorDiv || augmented->op == BinaryOperator::Mod)
        addSize(use, augmented->value);
      if (const auto *name = dynCast<Name>(augmented->target))
        use.read.emplace(name->id);
    }
  }

  void scanExpression(const JitFunction &function, ParameterUse &use, const Expr &expr, const Part &part) {
    if (const auto *name = dynCast<Name>(&expr)) {
      if (name->ctx == ExprContext::Load)
        use.read.emplace(name->id);
    } else if (const auto *op = dynCast<BinOp>(&expr)) {
      if (op->op == BinaryOperator::FloorDiv || op->op == BinaryOperator::Mod)
        addSize(use, op->right);
      if (op->op == BinaryOperator::FloorDiv || op->op == BinaryOperator::LShift ||
          op->op == BinaryOperator::RShift || op->op == BinaryOperator::BitAnd ||
          op->op == BinaryOperator::BitOr || op->op == BinaryOperator::BitXor) {
        addInteger(function, use, op->left);
        addInteger(function, use, op->right);
      }
    } else if (const auto *subscript = dynCast<Subscript>(&expr)) {
      // `strides[0]`: a tile cannot be read by an index.
      const auto *index = dynCast<Constant>(subscript->slice);
      if (index && index->asInt() && *index->asInt() >= 0 && subscript->ctx == ExprContext::Load)
        addItems(use, subscript->value, static_cast<size_t>(*index->asInt()) + 1);
    } else if (const auto *compare = dynCast<Compare>(&expr)) {
      addCompared(use, compare);
    } else if (const auto *choice = dynCast<IfExp>(&expr)) {
      addFlag(use, choice->test);
    } else if (const auto *attribute = dynCast<lang::Attribute>(&expr)) {
      // `x.dtype.element_ty`: only pointers have one.
      const auto *dtype = dynCast<lang::Attribute>(attribute->value);
      if (attribute->attr == "element_ty" && dtype && (dtype->attr == "dtype" || dtype->attr == "type"))
        if (const auto *name = dynCast<Name>(dtype->value))
          use.pointers.emplace(name->id);
    } else if (const auto *called = dynCast<Call>(&expr)) {
      call(function, use, called, part);
    }
  }

  std::map<const JitFunction *, ParameterUse> known_;
  std::map<const JitFunction *, Names> names_;
  std::map<const JitFunction *, std::vector<Part>> parts_;
};

} // namespace

ParameterUse parameterUse(const JitFunction &function) { return UseScan().of(function); }

} // namespace tilewright::lowering
