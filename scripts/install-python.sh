#!/usr/bin/env bash
# Installs the Python package into .venv from the release build (build/release is reused, so this compiles little).
set -euo pipefail
cd "$(dirname "$0")/.."
# Nothing to do when the installed copy is younger than every source of it.
stamp=.venv/tilewright-installed.stamp
newer=$(find pyproject.toml CMakeLists.txt cmake src include bindings python devices -newer "$stamp" -type f -not -path '*/__pycache__/*' 2>/dev/null | head -1 || true)
if [ -f "$stamp" ] && [ -z "$newer" ]; then exit 0; fi
echo "installing the Python package into .venv"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall . > build/pip-install.log 2>&1 ||
  { cat build/pip-install.log; exit 1; }
touch "$stamp"
