#!/usr/bin/env bash
# Include rules, formatting and clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 scripts/check-includes.py
git ls-files '*.cpp' '*.h' | xargs clang-format-22 --dry-run --Werror
git ls-files 'src/*.cpp' 'tools/*.cpp' | grep -v 'src/backend/cpu' | xargs clang-tidy-22 --quiet -p build/release
