#!/usr/bin/env bash
# Builds the fuzz targets (clang, AddressSanitizer, UBSan) and runs each for a while, seeded with the kernels of
# examples/ and tests/. A finding leaves its input in findings/ of the build and ends with an error.
#   TILEWRIGHT_FUZZ_SECONDS=60   how long each target runs
#   TILEWRIGHT_FUZZ_BUILD=build/asan   a build that has the targets already (default: builds build/fuzz)
#   scripts/fuzz.sh [TARGET...]  lexer parser lowering reader (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${TILEWRIGHT_FUZZ_SECONDS:-60}
targets=("$@"); [ ${#targets[@]} -gt 0 ] || targets=(lexer parser lowering reader)

if [ -n "${TILEWRIGHT_FUZZ_BUILD:-}" ]; then
  work=$TILEWRIGHT_FUZZ_BUILD
else
  work=build/fuzz; mkdir -p "$work"
  cmake --preset fuzz >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
  cmake --build --preset fuzz
fi
mkdir -p "$work/findings"
lower=build/release/bin/tilewright-lower; [ -x "$lower" ] || lower=$work/bin/tilewright-lower # the sanitized one is slow
# The kernels of tests/differential, where the Python for it is there: every operation in a few lines each.
tables=""
if .venv/bin/python tests/differential/test_differential.py --write "$work/tables" 2>/dev/null; then tables=$(ls "$work"/tables/*.py); fi
seed_kernels() { # seed_kernels FOLDER: our Python files cut into top-level functions, each with the usual imports
  mkdir -p "$1"
  for file in $(git ls-files 'examples/*.py' 'tests/*.py') $tables; do
    awk -v out="$1/$(echo "$file" | tr / _ | sed 's/\.py$//')" '
      /^(@|def |class )/ && !decorated { close(name); name = out "_" ++n ".py"; print "import triton\nimport triton.language as tl\n" >name }
      { decorated = /^@/; if (name) print >name }' "$file"
  done
}
seed_programs() { # seed_programs FOLDER: the text of every kernel that lowers without arguments
  mkdir -p "$1"
  for file in $(git ls-files 'examples/*.py' 'tests/*.py') $tables; do
    for kernel in $(grep -A 12 -E '^@triton\.(jit|autotune)' "$file" | grep -oE '^def [a-z_0-9]+' | cut -d' ' -f2 | sort -u | shuf -n 100 --random-source=tests/fuzz/triton.dict); do
      "$lower" "$file" "$kernel" >"$1/$kernel.tw" 2>/dev/null || rm -f "$1/$kernel.tw"
    done
  done
}

fuzz() { # fuzz TARGET: one target for its time, and one line that says what came of it
  local target=$1 corpus=$work/corpus/$1 seeds=$work/seeds/$1 log=$work/$1.log
  if "$work/bin/${target}_fuzzer" -max_total_time="$seconds" -max_len=4096 -timeout=60 -report_slow_units=60 -rss_limit_mb=3072 -print_final_stats=1 \
      -dict=tests/fuzz/triton.dict -artifact_prefix="$work/findings/$target-" "$corpus" "$seeds" >"$log" 2>&1; then
    echo "fuzz: $target: no finding in ${seconds} s ($(grep -aoE 'number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+$') inputs)"
  else
    echo "fuzz: $target: FOUND something; input under $work/findings"; tail -n 40 "$log"; return 1
  fi
}
for target in "${targets[@]}"; do
  mkdir -p "$work/corpus/$target"; rm -rf "$work/seeds/$target"
  if [ "$target" = reader ]; then seed_programs "$work/seeds/$target"; else seed_kernels "$work/seeds/$target"; fi
done
status=0; running=()
for target in "${targets[@]}"; do # as many at once as there are cores
  fuzz "$target" & running+=($!)
  if [ ${#running[@]} -ge "$(nproc)" ]; then wait "${running[0]}" || status=1; running=("${running[@]:1}"); fi
done
for job in "${running[@]}"; do wait "$job" || status=1; done
exit $status
