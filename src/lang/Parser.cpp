#include "tilewright/lang/Parser.h"
#include "ParserCore.h"
#include "SourceText.h"

namespace tilewright::lang {

namespace {

/// A file that is no Python at all would give an error a line.
constexpr size_t kMaxDiagnostics = 1000;

} // namespace

Expected<Module> parse(SourceFilePtr source) {
  TW_TRY(SourceFilePtr decoded, decodeSource(std::move(source)));
  Module module{std::move(decoded), std::make_unique<AstArena>(), {}};
  const TokenStream stream = tokenize(*module.source);
  ParserCore parser(*module.source, *module.arena, stream);
  std::vector<const Stmt *> body;
  try {
    while (!parser.atEnd())
      parser.parseStatement(body);
  } catch (SyntaxFailure &failure) {
    return fail(ErrorKind::User, std::move(failure.diagnostic));
  }
  module.body = module.arena->copy(body);
  return module;
}

ParseResult parseTolerant(SourceFilePtr source) {
  ParseResult result{{source, std::make_unique<AstArena>(), {}}, {}};
  auto decoded = decodeSource(std::move(source));
  if (!decoded) {
    result.diagnostics = std::move(decoded.error().diagnostics);
    if (result.diagnostics.empty())
      result.diagnostics.push_back(
          makeDiagnostic(Severity::Error, decoded.error().code, decoded.error().message));
    return result;
  }
  Module &module = result.module;
  module.source = *std::move(decoded);
  const TokenStream stream = tokenize(*module.source);
  ParserCore parser(*module.source, *module.arena, stream);
  std::vector<const Stmt *> body;
  while (!parser.atEnd() && result.diagnostics.size() < kMaxDiagnostics) {
    const uint32_t start = parser.position();
    const size_t complete = body.size();
    try {
      parser.parseStatement(body);
    } catch (SyntaxFailure &failure) {
      body.resize(complete);
      result.diagnostics.push_back(std::move(failure.diagnostic));
      parser.recover(start, failure.token);
    }
  }
  module.body = module.arena->copy(body);
  return result;
}

Expected<ExpressionModule> parseExpression(SourceFilePtr source) {
  TW_TRY(SourceFilePtr decoded, decodeSource(std::move(source)));
  ExpressionModule module{std::move(decoded), std::make_unique<AstArena>(), nullptr};
  const TokenStream stream = tokenizeExpression(*module.source);
  ParserCore parser(*module.source, *module.arena, stream);
  try {
    module.body = parser.parseLoneExpression();
  } catch (SyntaxFailure &failure) {
    return fail(ErrorKind::User, std::move(failure.diagnostic));
  }
  return module;
}

} // namespace tilewright::lang
