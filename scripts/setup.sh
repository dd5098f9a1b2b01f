#!/usr/bin/env bash
# Installs what Tilewright needs and is missing: Debian packages and a Python environment in .venv.
#   scripts/setup.sh          what building, the demo and the command line need
#   scripts/setup.sh --test   also what the tests need (torch: about 5 GB)
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache mold make git
  llvm-22-dev libmlir-22-dev mlir-22-tools
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libtbb-dev libexpected-dev
  libsqlite3-dev libxxhash-dev zlib1g-dev libzstd-dev
  libgtest-dev libgmock-dev libbenchmark-dev libopenblas-dev
  python3 python3-venv python3-dev
)
if [ "${1:-}" = "--test" ]; then packages+=(llvm-22-tools clang-22 libclang-rt-22-dev clang-format-22 clang-tidy-22); fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing ${missing[*]}"
  sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: please install as root: apt-get install ${missing[*]}" >&2; exit 1; }
    sudo=sudo
  fi
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "setup: Python 3.11 or newer is needed (set PYTHON=... to choose one)" >&2; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
[ -x .venv/bin/python ] || { echo "setup: creating .venv"; "$python" -m venv .venv; }

# A stamp of the requirement files, so that a second call costs nothing.
wanted=(requirements/demo.txt)
if [ "${1:-}" = "--test" ]; then wanted+=(requirements/test.txt); fi
for file in "${wanted[@]}"; do
  stamp=.venv/$(basename "$file").stamp
  if ! cmp -s "$file" "$stamp"; then
    echo "setup: installing $file"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$file"
    cp "$file" "$stamp"
  fi
done
