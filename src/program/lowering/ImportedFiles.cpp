#include "ImportedFiles.h"

#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/support/Files.h"

#include <filesystem>

namespace tilewright {

using lowering::Meaning;
using lowering::ModuleScope;

namespace {

constexpr uintmax_t kMaxBytes = 4 << 20; ///< larger files are data
constexpr int kMaxFoldersUp = 16;
constexpr int kMaxDepth = 24; ///< of imports that lead to imports
constexpr int kMaxRemembered = 8;

std::string folderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

std::string_view fileNameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

constexpr std::string_view kPackageFile = "__init__.py";

} // namespace

std::shared_ptr<ImportedFiles> makeImportedFiles() { return std::make_shared<ImportedFiles>(); }

bool ImportedFiles::isFile(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) <= kMaxBytes && !error;
}

bool ImportedFiles::isFolder(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && !error;
}

const ModuleScope *ImportedFiles::load(const std::string &path) {
  auto &slot = files_[path];
  if (slot)
    return slot->scope.get();
  if (!isFile(path))
    return nullptr;
  auto source = readSourceFile(path);
  if (!source)
    return nullptr;
  slot = std::make_unique<File>(File{lang::parseTolerant(*source).module, nullptr});
  ++loading_; // what a circle of imports sees of the file meanwhile is nothing, and not to be remembered
  slot->scope = std::make_unique<ModuleScope>(slot->module, this);
  --loading_;
  return slot->scope.get();
}

Meaning ImportedFiles::walk(std::string folder, std::string_view path, int depth) {
  // Folders and a file first, as far as they go; then a name inside of it.
  const auto package = [&] { return load(folder + "/" + std::string(kPackageFile)); };
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string name(path.substr(0, dot));
    const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
    // What the package itself binds comes before a file of that name, unless more follows.
    if (rest.empty())
      if (const ModuleScope *scope = package())
        if (Meaning bound = scope->own(name, depth + 1); bound.kind == Meaning::Kind::Bound ||
                                                         bound.kind == Meaning::Kind::Scope ||
                                                         bound.path.substr(0, 6) == "triton")
          return bound;
    const std::string inside = folder + "/" + name;
    path = rest;
    if (isFolder(inside)) {
      folder = inside;
      continue;
    }
    const ModuleScope *file = load(inside + ".py");
    if (!file)
      return {};
    Meaning meaning{Meaning::Kind::Scope, {}, file, nullptr};
    while (!path.empty() && meaning.kind != Meaning::Kind::Unknown) {
      const size_t next = std::min(path.find('.'), path.size());
      meaning = ModuleScope::member(meaning, path.substr(0, next), depth + 1);
      path = path.substr(std::min(next + 1, path.size()));
    }
    return meaning;
  }
  const ModuleScope *scope = package();
  return scope ? Meaning{Meaning::Kind::Scope, {}, scope, nullptr} : Meaning{};
}

Meaning ImportedFiles::search(const SourceFile &from, const std::string &path, int depth) {
  std::string folder = folderOf(from.path());
  size_t level = 0;
  while (level < path.size() && path[level] == '.')
    ++level;
  if (level > 0) {
    for (size_t i = 1; i < level; ++i)
      folder += "/..";
    return walk(folder, std::string_view(path).substr(level), depth);
  }
  // The folder of a script, then the folders around it: as far as packages go, or as one has the path's first
  // name.
  const std::string first = path.substr(0, path.find('.'));
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(folder, error);
  if (error)
    return {};
  bool inPackage = true;
  for (int up = 0; up < kMaxFoldersUp && !at.empty(); ++up) {
    const std::string here = at.string();
    const bool isNamed = at.filename() == first;
    if ((inPackage || isNamed) && !isNamed &&
        (isFolder(here + "/" + first) || isFile(here + "/" + first + ".py")))
      return walk(here, path, depth);
    if (isNamed && at.has_parent_path())
      if (const Meaning meaning = walk(at.parent_path().string(), path, depth);
          meaning.kind != Meaning::Kind::Unknown)
        return meaning;
    inPackage = inPackage && isFile(here + "/" + std::string(kPackageFile));
    if (at == at.parent_path())
      break;
    at = at.parent_path();
  }
  return {};
}

Meaning ImportedFiles::import(const SourceFile &from, const std::string &path, int depth) {
  const std::string_view first = std::string_view(path).substr(0, path.find('.'));
  if (first == "triton" || depth > kMaxDepth)
    return Meaning::external(path);
  std::scoped_lock lock(mutex_);
  const std::string key = folderOf(from.path()) + '\n' + path;
  if (const auto found = known_.find(key); found != known_.end())
    return found->second;
  Meaning meaning = search(from, path, depth);
  if (meaning.kind == Meaning::Kind::Unknown)
    meaning = Meaning::external(path);
  if (loading_ == 0 && depth < kMaxRemembered) // deeper answers may have been cut short
    known_.emplace(key, meaning);
  return meaning;
}

Meaning ImportedFiles::submodule(const SourceFile &package, std::string_view name) {
  if (fileNameOf(package.path()) != kPackageFile)
    return {};
  std::scoped_lock lock(mutex_);
  const std::string inside = folderOf(package.path()) + "/" + std::string(name);
  const ModuleScope *scope = load(inside + ".py");
  if (!scope)
    scope = load(inside + "/" + std::string(kPackageFile));
  return scope ? Meaning{Meaning::Kind::Scope, {}, scope, nullptr} : Meaning{};
}

} // namespace tilewright
