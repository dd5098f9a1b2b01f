#include "SymText.h"
#include "TextNames.h"
#include "tilewright/program/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace tilewright {

namespace {

constexpr int kMaxRegionDepth = 256;
constexpr uint32_t kMaxLine = 10'000'000;

class Reader {
public:
  explicit Reader(SourceFilePtr file) : file_(std::move(file)), text_(file_->text()), builder_(program_) {
    program_.symbols = std::make_shared<SymContext>();
    lookup_ = [this](std::string_view name) {
      const auto found = symbols_.find(name);
      return found == symbols_.end() ? SymInt() : found->second;
    };
  }

  Expected<Program> operator()() {
    while (takeWord("source")) {
      TW_TRY(std::string path, string());
      sourcePaths_.push_back(std::move(path));
    }
    if (!takeWord("kernel") || !take("@"))
      return error("expected 'kernel @name('");
    program_.kernel = std::string(word());
    const RegionId body = builder_.newRegion();
    TW_CHECK(expect("("));
    if (!take(")")) {
      do
        TW_CHECK(parameter(body));
      while (take(","));
      TW_CHECK(expect(")"));
    }
    while (peekWord("open") || peekWord("fixed") ||
           peekWord("unused")) { // constexprs may also follow the list
      TW_CHECK(parameter(body));
      take(",");
    }
    TW_CHECK(expect("{"));
    TW_CHECK(header());
    builder_.enter(body);
    TW_CHECK(operations(0));
    builder_.leave();
    skipBlanks();
    if (position_ != text_.size())
      return error("unexpected text after the kernel");
    placeLocations();
    return std::move(program_);
  }

private:
  // --- characters and words ---

  Unexpected errorAt(size_t begin, size_t end, std::string message) const {
    const SourceRange where{file_.get(), static_cast<uint32_t>(std::min(begin, text_.size())),
                            static_cast<uint32_t>(std::min(end, text_.size()))};
    return fail(ErrorKind::User,
                makeDiagnostic(Severity::Error, "program.syntax", std::move(message), where));
  }
  Unexpected error(std::string message) {
    skipBlanks();
    return errorAt(position_, position_ + 1, std::move(message));
  }

  void skipBlanks() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#')
        position_ = std::min(text_.find('\n', position_), text_.size());
      else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++position_;
      else
        break;
    }
  }
  static bool isWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || static_cast<unsigned char>(c) >= 0x80;
  }
  bool peek(std::string_view token) {
    skipBlanks();
    return text_.substr(position_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!peek(token))
      return false;
    position_ += token.size();
    return true;
  }
  Expected<void> expect(std::string_view token) {
    if (take(token))
      return {};
    return error(fmt::format("expected '{}'", token));
  }
  /// The word at this place; empty when there is none.
  std::string_view word() {
    skipBlanks();
    const size_t begin = position_;
    while (position_ < text_.size() && isWordCharacter(text_[position_]))
      ++position_;
    return text_.substr(begin, position_ - begin);
  }
  std::string_view peekedWord() {
    const size_t before = position_;
    const std::string_view found = word();
    position_ = before;
    return found;
  }
  bool peekWord(std::string_view wanted) { return peekedWord() == wanted; }
  bool takeWord(std::string_view wanted) {
    if (!peekWord(wanted))
      return false;
    word();
    return true;
  }

  Expected<std::string> string() {
    TW_CHECK(expect("\""));
    std::string out;
    while (position_ < text_.size() && text_[position_] != '"') {
      char c = text_[position_++];
      if (c == '\\' && position_ < text_.size()) {
        c = text_[position_++];
        c = c == 'n' ? '\n' : c;
      }
      out += c;
    }
    TW_CHECK(expect("\""));
    return out;
  }

  Expected<int64_t> integer() {
    skipBlanks();
    int64_t value = 0;
    const auto [stop, status] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (status != std::errc())
      return error("expected an integer");
    position_ = static_cast<size_t>(stop - text_.data());
    return value;
  }

  // --- symbols and types ---

  Expected<SymInt> sym() {
    skipBlanks();
    const auto prefix = symbolic::parseSymPrefix(*program_.symbols, text_.substr(position_), lookup_);
    if (!prefix)
      return errorAt(position_, position_ + 1,
                     prefix.error().message.substr(0, prefix.error().message.find(" of \"")));
    position_ += prefix->length;
    return prefix->expression;
  }

  struct Bounds {
    SymRange range;
    int64_t divisor = 1;
  };
  Expected<Bounds> bounds() {
    Bounds result;
    if (takeWord("in")) {
      // "1..64": read by hand, since ".." would look like part of a word.
      skipBlanks();
      if (!text_.substr(position_).starts_with("..")) {
        TW_TRY(result.range.min, integer());
      }
      if (!text_.substr(position_).starts_with(".."))
        return error("expected '..'");
      position_ += 2;
      if (position_ < text_.size() &&
          (text_[position_] == '-' || (text_[position_] >= '0' && text_[position_] <= '9'))) {
        TW_TRY(result.range.max, integer());
      }
    }
    if (takeWord("divisor")) {
      TW_TRY(result.divisor, integer());
      if (result.divisor < 1)
        return error("a divisor is at least 1");
    }
    return result;
  }

  Expected<SymInt> newSymbol(std::string_view text, SymbolKind kind, const Bounds &bounds) {
    if (text.empty())
      return error("expected a name");
    const SymInt symbol =
        program_.symbols->newSymbol(kind, std::string(UniqueNames::stem(text)), bounds.range, bounds.divisor);
    if (!symbols_.emplace(std::string(text), symbol).second)
      return error(fmt::format("the symbol {} is declared twice", text));
    return symbol;
  }

  Expected<Type> type() {
    const std::string_view head = word();
    if (const auto dtype = parseDType(head))
      return Type::scalar(*dtype);
    Type result;
    if (head == "ptr") {
      TW_TRY(const DType pointee, pointee());
      return Type::pointer(pointee);
    }
    if (head == "blockptr")
      result.kind = Type::Kind::BlockPointer;
    else if (head == "descriptor")
      result.kind = Type::Kind::Descriptor;
    else if (head != "tile")
      return errorAt(position_ - head.size(), position_, fmt::format("unknown type '{}'", head));
    TW_CHECK(expect("<"));
    for (;;) {
      const size_t before = position_;
      const std::string_view element = word();
      if (const auto dtype = parseDType(element); dtype && peek(">")) {
        result.dtype = *dtype;
        break;
      }
      if (element == "ptr" && peek("<")) {
        result.kind = Type::Kind::Pointer;
        TW_TRY(result.dtype, pointee());
        break;
      }
      position_ = before;
      TW_TRY(const SymInt dimension, sym());
      result.shape.push_back(dimension);
      if (!takeWord("x"))
        return error("expected ' x ' after an extent");
    }
    TW_CHECK(expect(">"));
    return result;
  }
  Expected<DType> pointee() {
    TW_CHECK(expect("<"));
    const std::string_view element = word();
    const auto dtype = parseDType(element);
    if (!dtype)
      return error(fmt::format("unknown element type '{}'", element));
    TW_CHECK(expect(">"));
    return *dtype;
  }

  // --- kernel header ---

  Expected<void> parameter(RegionId body) {
    Parameter p;
    if (take("%")) {
      p.name = std::string(word());
      TW_CHECK(expect(":"));
      TW_TRY(p.type, type());
      p.kind = p.type.isPointer() ? Parameter::Kind::Pointer : Parameter::Kind::Scalar;
      p.value = builder_.addArgument(body, p.type, p.name);
      if (!values_.emplace(p.name, p.value).second)
        return error(fmt::format("the parameter {} is declared twice", p.name));
      if (take("=")) {
        const std::string_view symbol = word();
        TW_TRY(const Bounds limits, bounds());
        TW_TRY(p.symbol, newSymbol(symbol, SymbolKind::RuntimeScalar, limits));
        program_.values[p.value].sym = p.symbol;
      }
    } else if (takeWord("open")) {
      p.kind = Parameter::Kind::Open;
      p.isConstexpr = true;
      p.name = std::string(word());
      std::string symbol = p.name;
      if (takeWord("as"))
        symbol = std::string(word());
      TW_CHECK(expect("="));
      TW_TRY(p.witness, integer());
      TW_TRY(const Bounds limits, bounds());
      TW_TRY(p.symbol, newSymbol(symbol, SymbolKind::OpenParameter, limits));
    } else if (takeWord("fixed")) {
      p.kind = Parameter::Kind::Fixed;
      p.isConstexpr = !takeWord("runtime");
      p.name = std::string(word());
      TW_CHECK(expect("="));
      TW_TRY(p.fixed, fixedValue(p.name));
    } else if (takeWord("unused"))
      p.name = std::string(word());
    else
      return error("expected '%', 'open', 'fixed' or 'unused'");
    if (p.name.empty())
      return error("expected a name");
    p.hasDefault = takeWord("default");
    program_.parameters.push_back(std::move(p));
    return {};
  }

  Expected<ArgumentValue> fixedValue(const std::string &name) {
    skipBlanks();
    const size_t begin = position_;
    int depth = 0;
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '"') {
        TW_CHECK(string());
        --position_;
      } else if (c == '[' || c == '{' || c == '(')
        ++depth;
      else if (depth > 0 && (c == ']' || c == '}' || c == ')'))
        --depth;
      else if (depth == 0 && (c == ',' || c == ')' || c == ' ' || c == '\n'))
        break;
    }
    const auto argument = parseArgument(name + "=" + std::string(text_.substr(begin, position_ - begin)));
    if (!argument)
      return errorAt(begin, position_, argument.error().message);
    return argument->value;
  }

  Expected<void> header() {
    for (;;) {
      if (takeWord("symbol")) {
        const std::string_view name = word();
        TW_CHECK(expect(":"));
        const std::string_view kind = word();
        static constexpr std::string_view kKinds[] = {"open", "scalar", "program_id", "num_programs",
                                                      "loop", "lane",   "opaque"};
        const auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
        if (found == std::end(kKinds))
          return errorAt(position_ - kind.size(), position_,
                         fmt::format("unknown kind of symbol '{}'", kind));
        TW_TRY(const Bounds limits, bounds());
        TW_CHECK(newSymbol(name, static_cast<SymbolKind>(found - std::begin(kKinds)), limits));
      } else if (takeWord("path")) {
        PathCondition path;
        TW_TRY(path.condition, sym());
        TW_CHECK(expect(":"));
        TW_TRY(path.text, string());
        TW_CHECK(location({Target::Path, program_.pathConditions.size()}));
        program_.pathConditions.push_back(std::move(path));
      } else if (takeWord("require")) {
        StaticRequirement rule;
        TW_TRY(rule.code, string());
        TW_TRY(rule.condition, sym());
        TW_CHECK(expect(":"));
        TW_TRY(rule.text, string());
        TW_CHECK(location({Target::Requirement, program_.requirements.size()}));
        program_.requirements.push_back(std::move(rule));
      } else if (takeWord("remark")) {
        TW_TRY(std::string code, string());
        TW_TRY(std::string message, string());
        Diagnostic remark = makeDiagnostic(Severity::Remark, std::move(code), std::move(message));
        if (take("@")) {
          TW_TRY(const int64_t line, integer());
          remark.location = ResolvedLocation{sourcePaths_.empty() ? file_->path() : sourcePaths_[0],
                                             static_cast<uint32_t>(std::clamp<int64_t>(line, 0, kMaxLine)),
                                             0,
                                             1,
                                             {}};
        }
        program_.remarks.push_back(std::move(remark));
      } else
        return {};
    }
  }

  // --- operations ---

  Expected<void> operations(int depth) {
    if (depth > kMaxRegionDepth)
      return error("too deeply nested");
    while (!take("}")) {
      skipBlanks();
      if (position_ == text_.size())
        return error("expected '}'");
      TW_CHECK(operation(depth));
    }
    return {};
  }

  Expected<void> operation(int depth) {
    skipBlanks();
    const size_t begin = position_;
    std::vector<std::string> results;
    while (take("%")) {
      results.emplace_back(word());
      if (!take(","))
        break;
    }
    if (!results.empty())
      TW_CHECK(expect("="));
    skipBlanks();
    const size_t nameBegin = position_;
    const std::string_view opName = word();
    const auto kind = parseOpKind(opName);
    if (!kind)
      return errorAt(nameBegin, std::max(position_, nameBegin + 1),
                     fmt::format("unknown operation '{}'", opName));
    std::vector<ValueId> operands;
    while (take("%")) {
      const std::string_view operand = word();
      const auto found = values_.find(operand);
      if (found == values_.end())
        return errorAt(position_ - operand.size() - 1, position_, fmt::format("%{} is not defined", operand));
      operands.push_back(found->second);
      if (!take(","))
        break;
    }
    TW_TRY(Attributes attributes, this->attributes());
    std::vector<Type> types;
    std::vector<SymInt> syms;
    if (!results.empty())
      TW_CHECK(expect(":"));
    for (size_t i = 0; i < results.size(); ++i) {
      if (i)
        TW_CHECK(expect(","));
      TW_TRY(Type resultType, type());
      TW_TRY(const SymInt value, valueSym(symbolKindFor(*kind), symbolBoundsFor(*kind)));
      types.push_back(std::move(resultType));
      syms.push_back(value);
    }
    completeAttributes(*kind, types, attributes);
    const SourceRange own{file_.get(), static_cast<uint32_t>(begin), static_cast<uint32_t>(position_)};
    const OpId id = builder_.create(*kind, std::move(operands), std::move(types), std::move(attributes),
                                    sourcePaths_.empty() ? own : SourceRange{});
    while (peek("{") || peekWord("else") || peekWord("do")) {
      if (!take("{")) {
        word();
        TW_CHECK(expect("{"));
      }
      const RegionId region = builder_.newRegion(id);
      program_.ops[id].regions.push_back(region);
      if (take("(")) {
        while (!take(")")) {
          TW_CHECK(expect("%"));
          const std::string name(word());
          TW_CHECK(expect(":"));
          TW_TRY(Type argumentType, type());
          const bool isIndex = *kind == OpKind::For && program_.regions[region].arguments.empty();
          TW_TRY(const SymInt value, valueSym(isIndex ? SymbolKind::LoopIndex : SymbolKind::Opaque, {}));
          const ValueId argument =
              builder_.addArgument(region, std::move(argumentType), std::string(UniqueNames::stem(name)));
          program_.values[argument].sym = value;
          TW_CHECK(define(name, argument, position_));
          take(",");
        }
      }
      builder_.enter(region);
      TW_CHECK(operations(depth + 1));
      builder_.leave();
    }
    // Results are visible only after the regions.
    for (size_t i = 0; i < results.size(); ++i) {
      const ValueId value = program_.ops[id].results[i];
      program_.values[value].name = std::string(UniqueNames::stem(results[i]));
      if (syms[i].valid())
        program_.values[value].sym = syms[i];
      TW_CHECK(define(results[i], value, begin));
    }
    return location({Target::Operation, id});
  }

  Expected<void> define(const std::string &name, ValueId value, size_t where) {
    if (name.empty())
      return errorAt(where, where + 1, "expected a name after '%'");
    if (!values_.emplace(name, value).second)
      return errorAt(where, where + 1, fmt::format("%{} is defined twice", name));
    return {};
  }

  static SymbolKind symbolKindFor(OpKind kind) {
    return kind == OpKind::ProgramId      ? SymbolKind::ProgramId
           : kind == OpKind::ProgramCount ? SymbolKind::ProgramCount
                                          : SymbolKind::Opaque;
  }
  static Bounds symbolBoundsFor(OpKind kind) {
    if (kind == OpKind::ProgramId)
      return {{0, INT32_MAX}, 1};
    if (kind == OpKind::ProgramCount)
      return {{1, INT32_MAX}, 1};
    return {};
  }

  /// "= expression" after a type. A lone unknown name introduces a symbol.
  Expected<SymInt> valueSym(SymbolKind kind, const Bounds &implied) {
    if (!take("="))
      return SymInt();
    const std::string_view name = peekedWord();
    const bool isName = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name != "not";
    if (isName && !lookup_(name).valid()) {
      const size_t before = position_;
      word();
      if (!text_.substr(position_).starts_with("(")) // a call is an expression
        return newSymbol(name, kind, implied);
      position_ = before;
    }
    return sym();
  }

  Expected<Attributes> attributes() {
    Attributes result;
    const size_t before = position_;
    if (!take("{"))
      return result;
    // A region starts with '{' too; only attributes go on with "name =".
    const bool isAttributes = !word().empty() && peek("=");
    if (!isAttributes) {
      position_ = before;
      return result;
    }
    position_ = before;
    take("{");
    do {
      const std::string name(word());
      if (name.empty())
        return error("expected the name of an attribute");
      TW_CHECK(expect("="));
      TW_TRY(Attribute value, attribute());
      result.set(name, std::move(value));
    } while (take(","));
    TW_CHECK(expect("}"));
    return result;
  }

  Expected<Attribute> attribute() {
    if (peek("\"")) {
      TW_TRY(std::string text, string());
      return Attribute(std::move(text));
    }
    if (take("[")) {
      std::vector<int64_t> values;
      while (!take("]")) {
        TW_TRY(const int64_t value, integer());
        values.push_back(value);
        take(",");
      }
      return Attribute(std::move(values));
    }
    if (take("sym[")) {
      std::vector<SymInt> values;
      while (!take("]")) {
        TW_TRY(const SymInt value, sym());
        values.push_back(value);
        take(",");
      }
      return Attribute(std::move(values));
    }
    if (take("sym(")) {
      TW_TRY(const SymInt value, sym());
      TW_CHECK(expect(")"));
      return Attribute(value);
    }
    if (take("type(")) {
      const std::string_view name = word();
      const auto dtype = parseDType(name);
      if (!dtype)
        return error(fmt::format("unknown element type '{}'", name));
      TW_CHECK(expect(")"));
      return Attribute(*dtype);
    }
    skipBlanks();
    const size_t end = text_.find_first_of(",}\n", position_);
    std::string_view whole = text_.substr(position_, end == std::string_view::npos ? end : end - position_);
    while (!whole.empty() && (whole.back() == ' ' || whole.back() == '\t' || whole.back() == '\r'))
      whole.remove_suffix(1);
    const auto accept = [&](Attribute value) -> Attribute {
      position_ += whole.size();
      return value;
    };
    if (whole == "true" || whole == "false")
      return accept(whole == "true");
    if (whole == "nan")
      return accept(std::numeric_limits<double>::quiet_NaN());
    if (whole == "inf" || whole == "-inf")
      return accept(whole == "inf" ? std::numeric_limits<double>::infinity()
                                   : -std::numeric_limits<double>::infinity());
    int64_t number = 0;
    const char *last = whole.data() + whole.size();
    if (const auto [stop, status] = std::from_chars(whole.data(), last, number);
        status == std::errc() && stop == last)
      return accept(number);
    double real = 0;
    if (const auto [stop, status] = std::from_chars(whole.data(), last, real);
        status == std::errc() && stop == last)
      return accept(real);
    TW_TRY(const SymInt value, sym());
    return Attribute(value);
  }

  /// Bare integers and truth values become SymInts, and integers floats, where the operation wants them.
  void completeAttributes(OpKind kind, const std::vector<Type> &types, Attributes &attributes) {
    const auto toSym = [&](std::string_view name) {
      const Attribute *value = attributes.find(name);
      if (!value)
        return;
      if (const auto *integer = std::get_if<int64_t>(value))
        attributes.set(std::string(name), program_.symbols->constant(*integer));
      else if (const auto *flag = std::get_if<bool>(value))
        attributes.set(std::string(name), program_.symbols->constant(*flag));
    };
    if (kind == OpKind::Iota) {
      toSym("start");
      toSym("end");
    }
    if (kind == OpKind::Constant && !types.empty()) {
      if (isFloat(types[0].dtype))
        attributes.set("value", attributes.number("value"));
      else
        toSym("value");
    }
  }

  // --- locations ---

  struct Target {
    enum Kind : uint8_t { Operation, Path, Requirement } kind;
    size_t index;
    size_t file = 0;
    uint32_t line = 0;
  };

  Expected<void> location(Target target) {
    const size_t begin = position_;
    if (!take("@"))
      return {};
    TW_TRY(int64_t first, integer());
    if (position_ < text_.size() && text_[position_] == ':') {
      ++position_;
      target.file = static_cast<size_t>(first);
      TW_TRY(first, integer());
    }
    if (first < 1 || first > kMaxLine || target.file >= std::max<size_t>(1, sourcePaths_.size()))
      return errorAt(begin, position_, "a location that is not in any of the sources");
    target.line = static_cast<uint32_t>(first);
    targets_.push_back(target);
    return {};
  }

  /// The sources themselves are not part of the text; empty lines stand in for them, so that line numbers
  /// work.
  void placeLocations() {
    if (sourcePaths_.empty()) {
      program_.sources.push_back(file_);
    } else
      for (size_t i = 0; i < sourcePaths_.size(); ++i) {
        uint32_t lines = 1;
        for (const Target &target : targets_)
          if (target.file == i)
            lines = std::max(lines, target.line);
        program_.sources.push_back(std::make_shared<SourceFile>(sourcePaths_[i], std::string(lines, '\n')));
      }
    for (const Target &target : targets_) {
      const SourceFile &source = *program_.sources[target.file];
      const uint32_t start = source.lineStart(std::min(target.line, source.lineCount()));
      const SourceRange range{&source, start, start};
      if (target.kind == Target::Operation)
        program_.ops[target.index].location = range;
      else if (target.kind == Target::Path)
        program_.pathConditions[target.index].location = range;
      else
        program_.requirements[target.index].location = range;
    }
  }

  SourceFilePtr file_;
  std::string_view text_;
  size_t position_ = 0;
  Program program_;
  ProgramBuilder builder_;
  symbolic::SymLookup lookup_;
  std::map<std::string, SymInt, std::less<>> symbols_;
  std::map<std::string, ValueId, std::less<>> values_;
  std::vector<std::string> sourcePaths_;
  std::vector<Target> targets_;
};

} // namespace

Expected<Program> readProgram(SourceFilePtr file) { return Reader(std::move(file))(); }

} // namespace tilewright
