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
      const size_t before = known_[&function].pointers.size() + known_[&function].sizes.size();
      scan(function, known_[&function]);
      if (known_[&function].pointers.size() + known_[&function].sizes.size() == before)
        break;
    }
    return known_[&function];
  }

private:
  static bool isOneOf(std::string_view text, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), text) != names.end();
  }

  /// The pointer of `base + a + b * c`: the leftmost term. Behind casts and subscripts too.
  static void addPointer(ParameterUse &use, const Expr *expr) {
    for (;;) {
      if (const auto *name = dynCast<Name>(expr)) {
        use.pointers.emplace(name->id);
        return;
      }
      if (const auto *op = dynCast<BinOp>(expr);
          op && (op->op == BinaryOperator::Add || op->op == BinaryOperator::Sub))
        expr = op->left;
      else if (const auto *subscript = dynCast<Subscript>(expr))
        expr = subscript->value;
      else if (const auto *call = dynCast<Call>(expr))
        expr = isa<lang::Attribute>(call->func) && !isa<Name>(cast<lang::Attribute>(call->func)->value)
                   ? cast<lang::Attribute>(call->func)->value
               : call->args.empty() ? nullptr
                                    : call->args[0];
      else
        return;
      if (!expr)
        return;
    }
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

  void call(const ModuleScope &names, ParameterUse &use, const Call *expr) {
    const std::string path = names.resolve(expr->func);
    std::string_view name = path;
    constexpr std::string_view kLanguage = "triton.language.";
    if (name.substr(0, kLanguage.size()) == kLanguage)
      name.remove_prefix(kLanguage.size());
    const auto argument = [&](size_t position, std::string_view keyword) -> const Expr * {
      if (position < expr->args.size())
        return expr->args[position];
      for (const Keyword *k : expr->keywords)
        if (k->arg == keyword)
          return k->value;
      return nullptr;
    };
    if (isOneOf(name, {"load", "store"}) || name.substr(0, 7) == "atomic_")
      addPointer(use, argument(0, "pointer"));
    else if (isOneOf(name, {"make_block_ptr", "make_tensor_descriptor"})) {
      addPointer(use, argument(0, "base"));
      addSize(use, argument(name == "make_block_ptr" ? 4 : 3, "block_shape"));
    } else if (name == "arange")
      addSize(use, argument(1, "end"));
    else if (isOneOf(name, {"zeros", "full"}))
      addSize(use, argument(0, "shape"));
    else if (isOneOf(name, {"cdiv", "triton.cdiv"}))
      addSize(use, argument(1, "div"));
    else if (isOneOf(name, {"range", "static_range"}))
      addSize(use, argument(2, "step"));
    else if (const JitFunction *helper = names.functionOf(expr->func)) {
      const ParameterUse inner = of(*helper);
      const Arguments &formals = *helper->def->args;
      size_t position = 0;
      for (const auto list : {formals.posonlyargs, formals.args, formals.kwonlyargs})
        for (const Arg *formal : list) {
          const Expr *actual = argument(position++, formal->arg);
          if (!actual)
            continue;
          if (inner.pointers.count(formal->arg))
            addPointer(use, actual);
          if (inner.sizes.count(formal->arg))
            addSize(use, actual);
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

  void scan(const JitFunction &function, ParameterUse &use) {
    walkBody(
        function.def->body,
        [&](const Stmt &stmt) {
          if (const auto *branch = dynCast<If>(&stmt)) {
            addFlag(use, branch->test);
          } else if (const auto *assign = dynCast<Assign>(&stmt)) {
            for (const Expr *target : assign->targets)
              if (const auto *name = dynCast<Name>(target)) {
                if (use.pointers.count(name->id))
                  addPointer(use, assign->value);
                if (use.sizes.count(name->id))
                  addSize(use, assign->value);
              }
          } else if (const auto *annotated = dynCast<AnnAssign>(&stmt)) {
            if (const auto *name = dynCast<Name>(annotated->target); name && annotated->value) {
              if (use.pointers.count(name->id))
                addPointer(use, annotated->value);
              if (use.sizes.count(name->id))
                addSize(use, annotated->value);
            }
          } else if (const auto *augmented = dynCast<AugAssign>(&stmt)) {
            if (augmented->op == BinaryOperator::FloorDiv || augmented->op == BinaryOperator::Mod)
              addSize(use, augmented->value);
            if (const auto *name = dynCast<Name>(augmented->target))
              use.read.emplace(name->id);
          }
        },
        [&](const Expr &expr) {
          if (const auto *name = dynCast<Name>(&expr)) {
            if (name->ctx == ExprContext::Load)
              use.read.emplace(name->id);
          } else if (const auto *op = dynCast<BinOp>(&expr)) {
            if (op->op == BinaryOperator::FloorDiv || op->op == BinaryOperator::Mod)
              addSize(use, op->right);
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
            call(*function.scope, use, called);
          }
        });
  }

  std::map<const JitFunction *, ParameterUse> known_;
};

} // namespace

ParameterUse parameterUse(const JitFunction &function) { return UseScan().of(function); }

} // namespace tilewright::lowering
