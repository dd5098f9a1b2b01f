#pragma once
#include "ModuleScope.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tilewright {

/// The files that a kernel's file imports, read from disk on demand and never executed.
///
/// `from .ops import f` is looked for beside the importing file; `import pkg.ops` beside it and in the
/// folders around it, up to the one that holds the outermost package (a folder with an `__init__.py`, or one
/// named as the path begins). What is not found there, or not read, stays a path. `triton` itself is never
/// read: its names mean what the language says.
///
/// Any number of threads may share one.
class ImportedFiles {
public:
  /// What `path` means in a file. `path` is dotted, with one leading dot a level for relative imports.
  lowering::Meaning import(const SourceFile &from, const std::string &path, int depth);
  /// A name inside a package's `__init__.py` that is not bound there, but is a file beside it.
  lowering::Meaning submodule(const SourceFile &package, std::string_view name);

private:
  struct File {
    lang::Module module;
    std::unique_ptr<lowering::ModuleScope> scope;
  };
  const lowering::ModuleScope *load(const std::string &path);
  bool isFile(const std::string &path);
  bool isFolder(const std::string &path);
  lowering::Meaning walk(std::string folder, std::string_view path, int depth);
  lowering::Meaning search(const SourceFile &from, const std::string &path, int depth);

  int loading_ = 0;
  std::recursive_mutex mutex_;
  std::map<std::string, std::unique_ptr<File>> files_; ///< null: cannot be read
  std::map<std::string, lowering::Meaning> known_;     ///< by folder and path
};

} // namespace tilewright
