#include "SymText.h"
#include "TextNames.h"
#include "tilewright/program/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

std::string numberText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  auto text = fmt::format("{}", number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

class ProgramPrinter {
public:
  explicit ProgramPrinter(const Program &program) : program_(program) {
    symNames_ = [this](uint32_t id) { return symbolName(id); };
  }

  std::string operator()() {
    for (const SourceFilePtr &source : program_.sources)
      out_ += "source " + quoted(source->path()) + "\n";
    out_ += "kernel @" + program_.kernel + "(";
    for (size_t i = 0; i < program_.parameters.size(); ++i) {
      out_ += i ? ", " : "";
      parameter(program_.parameters[i]);
    }
    out_ += ") {\n";
    const size_t declarations = out_.size();
    for (const Diagnostic &remark : program_.remarks) {
      out_ += "  remark " + quoted(remark.code) + " " + quoted(remark.message);
      if (remark.location)
        out_ += fmt::format(" @{}", remark.location->line);
      out_ += "\n";
    }
    for (const PathCondition &path : program_.pathConditions)
      out_ += "  path " + sym(path.condition) + " : " + quoted(path.text) + location(path.location) + "\n";
    for (const StaticRequirement &rule : program_.requirements)
      out_ += "  require " + quoted(rule.code) + " " + sym(rule.condition) + " : " + quoted(rule.text) +
              location(rule.location) + "\n";
    if (!program_.regions.empty())
      for (OpId op : program_.body().ops)
        operation(op, 1);
    out_ += "}\n";
    // Which symbols need a line of their own is known only now.
    out_.insert(declarations, symbolLines());
    return std::move(out_);
  }

private:
  std::string symbolName(uint32_t id) {
    if (const auto known = symbolNames_.find(id); known != symbolNames_.end())
      return known->second;
    return symbolNames_[id] = takenSymbolNames_.unique(program_.symbols->symbol(id).name, "s");
  }

  std::string sym(SymInt e) { return symbolic::symText(e, symNames_); }
  std::string type(const Type &t) { return symbolic::typeText(t, symNames_); }

  /// " in 1..1024 divisor 16", as far as it says something.
  static std::string bounds(SymRange range, int64_t divisor) {
    std::string out;
    if (range != SymRange{})
      out += " in " + (range.min == INT64_MIN ? std::string() : fmt::format("{}", range.min)) + ".." +
             (range.max == INT64_MAX ? std::string() : fmt::format("{}", range.max));
    if (divisor > 1)
      out += fmt::format(" divisor {}", divisor);
    return out;
  }

  void parameter(const Parameter &p) {
    switch (p.kind) {
    case Parameter::Kind::Pointer:
    case Parameter::Kind::Scalar: {
      if (p.value != kNone)
        valueNames_[p.value] = takenValueNames_.unique(p.name, "arg");
      out_ += "%" + p.name + ": " + type(p.type);
      if (p.symbol.valid())
        out_ += " = " + introduced(p.symbol) + bounds(p.symbol.range(), p.symbol.divisor());
      break;
    }
    case Parameter::Kind::Open:
      out_ += "open " + p.name;
      if (const std::string symbol = introduced(p.symbol); symbol != p.name)
        out_ += " as " + symbol;
      out_ += fmt::format(" = {}", p.witness) + bounds(p.symbol.range(), p.symbol.divisor());
      break;
    case Parameter::Kind::Fixed:
      out_ += std::string(p.isConstexpr ? "fixed " : "fixed runtime ") + p.name + " = " + toString(p.fixed);
      break;
    case Parameter::Kind::Unused:
      out_ += "unused " + p.name;
      break;
    }
    if (p.hasDefault)
      out_ += " default";
  }

  std::string introduced(SymInt symbol) {
    ownLine_.insert(symbol.symbolId());
    return symbolName(symbol.symbolId());
  }

  std::string symbolLines() {
    static constexpr std::string_view kKinds[] = {"open", "scalar", "program_id", "num_programs",
                                                  "loop", "lane",   "opaque"};
    std::string lines;
    for (const auto &[id, name] : symbolNames_) {
      if (ownLine_.count(id))
        continue;
      const Symbol &symbol = program_.symbols->symbol(id);
      lines += "  symbol " + name + ": " + std::string(kKinds[static_cast<size_t>(symbol.kind)]) +
               bounds(symbol.range, symbol.divisor) + "\n";
    }
    return lines;
  }

  std::string value(ValueId id) {
    if (const auto known = valueNames_.find(id); known != valueNames_.end())
      return "%" + known->second;
    const std::string &name = program_.value(id).name;
    const std::string text = name.empty() ? takenValueNames_.number() : takenValueNames_.unique(name, "v");
    valueNames_[id] = text;
    return "%" + text;
  }

  std::string typeAndSym(ValueId id, bool constant) {
    const Value &v = program_.value(id);
    std::string text = type(v.type);
    if (v.sym.valid() && !constant)
      text += " = " + sym(v.sym);
    return text;
  }

  std::string attribute(OpKind kind, const std::string &name, const Attribute &attribute) {
    const bool knownSym = (kind == OpKind::Constant && name == "value") ||
                          (kind == OpKind::Iota && (name == "start" || name == "end"));
    struct Writer {
      ProgramPrinter &self;
      bool knownSym;
      std::string operator()(bool flag) const { return flag ? "true" : "false"; }
      std::string operator()(int64_t integer) const { return fmt::format("{}", integer); }
      std::string operator()(double number) const { return numberText(number); }
      std::string operator()(const std::string &text) const { return quoted(text); }
      std::string operator()(SymInt e) const {
        return !knownSym && e.valid() && e.isConstant() ? "sym(" + self.sym(e) + ")" : self.sym(e);
      }
      std::string operator()(DType dtype) const { return fmt::format("type({})", tilewright::name(dtype)); }
      std::string operator()(const std::vector<int64_t> &values) const {
        return fmt::format("[{}]", fmt::join(values, ", "));
      }
      std::string operator()(const std::vector<SymInt> &values) const {
        std::string out;
        for (SymInt e : values)
          out += (out.empty() ? "" : ", ") + self.sym(e);
        return "sym[" + out + "]";
      }
    };
    return name + " = " + std::visit(Writer{*this, knownSym}, attribute);
  }

  std::string location(const SourceRange &range) const {
    if (!range.valid())
      return {};
    for (size_t i = 0; i < program_.sources.size(); ++i)
      if (program_.sources[i].get() == range.file)
        return i == 0 ? fmt::format(" @{}", range.line()) : fmt::format(" @{}:{}", i, range.line());
    return {};
  }

  void operation(OpId id, int depth) {
    const Op &op = program_.op(id);
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    for (size_t i = 0; i < op.results.size(); ++i)
      out_ += (i ? ", " : "") + value(op.results[i]);
    if (!op.results.empty())
      out_ += " = ";
    out_ += name(op.kind);
    for (size_t i = 0; i < op.operands.size(); ++i)
      out_ += (i ? ", " : " ") + value(op.operands[i]);
    if (!op.attributes.values().empty()) {
      out_ += " {";
      bool first = true;
      for (const auto &[key, entry] : op.attributes.values()) {
        out_ += (first ? "" : ", ") + attribute(op.kind, key, entry);
        first = false;
      }
      out_ += "}";
    }
    for (size_t i = 0; i < op.results.size(); ++i)
      out_ += (i ? ", " : " : ") + typeAndSym(op.results[i], op.kind == OpKind::Constant);
    for (size_t i = 0; i < op.regions.size(); ++i) {
      out_ += i == 0 ? " {" : op.kind == OpKind::If ? " else {" : op.kind == OpKind::While ? " do {" : " {";
      const Region &region = program_.region(op.regions[i]);
      if (!region.arguments.empty()) {
        out_ += " (";
        for (size_t k = 0; k < region.arguments.size(); ++k)
          out_ +=
              (k ? ", " : "") + value(region.arguments[k]) + ": " + typeAndSym(region.arguments[k], false);
        out_ += ")";
      }
      out_ += "\n";
      for (OpId inner : region.ops)
        operation(inner, depth + 1);
      out_.append(static_cast<size_t>(depth) * 2, ' ');
      out_ += "}";
    }
    out_ += location(op.location) + "\n";
  }

  const Program &program_;
  std::string out_;
  symbolic::SymNames symNames_;
  UniqueNames takenSymbolNames_, takenValueNames_;
  std::map<uint32_t, std::string> symbolNames_;
  std::map<ValueId, std::string> valueNames_;
  std::set<uint32_t> ownLine_; ///< symbols that a parameter introduces
};

} // namespace

std::string print(const Program &program) { return ProgramPrinter(program)(); }

} // namespace tilewright
