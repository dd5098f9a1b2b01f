#!/usr/bin/env bash
# Runs every test suite and ends with one line that counts them all.
#   scripts/run-tests.sh          everything: rules, C++ unit tests, command line, Python with triton and torch
#                                 and NumPy, quick C++ tests under AddressSanitizer, UBSan and ThreadSanitizer, fuzzing
#   scripts/run-tests.sh --fast   what runs in under two minutes on a finished build
set -uo pipefail
cd "$(dirname "$0")/.."
fast=${1:-}
passed=0; failed=0; skipped=0; status=0
logs=build/test-logs; mkdir -p "$logs"

count() { # count NAME LOG: adds the numbers of a GoogleTest or pytest log
  local p f s
  if grep -qE '^\[  PASSED  \]' "$2" || grep -qE '^\[==========\]' "$2"; then
    p=$(grep -oE '^\[  PASSED  \] [0-9]+' "$2" | grep -oE '[0-9]+' | awk "{s+=\$1} END{print s+0}"); f=$(grep -cE '^\[  FAILED  \] .*\([0-9]+ ms\)' "$2"); s=$(grep -oE '^\[  SKIPPED \] [0-9]+ test' "$2" | grep -oE '[0-9]+' | awk "{s+=\$1} END{print s+0}")
  else
    p=$(tail -n 3 "$2" | grep -oE '[0-9]+ passed' | grep -oE '[0-9]+' | awk "{s+=\$1} END{print s+0}"); f=$(tail -n 3 "$2" | grep -oE '[0-9]+ (failed|error)' | grep -oE '[0-9]+' | awk "{s+=\$1} END{print s+0}"); s=$(tail -n 3 "$2" | grep -oE '[0-9]+ skipped' | grep -oE '[0-9]+' | awk "{s+=\$1} END{print s+0}")
  fi
  passed=$((passed + ${p:-0})); failed=$((failed + ${f:-0})); skipped=$((skipped + ${s:-0}))
}
suite() { # suite NAME COMMAND...: runs, counts, and keeps the log; a suite that dies without a count is one failure
  local name=$1 log="$logs/$1.log" before=$failed; shift
  local begin=$SECONDS
  if "$@" >"$log" 2>&1; then printf 'ok    %-24s %4ds\n' "$name" $((SECONDS - begin)); count "$name" "$log"
  else
    printf 'FAIL  %-24s %4ds\n' "$name" $((SECONDS - begin)); count "$name" "$log"; status=1
    [ "$failed" -gt "$before" ] || failed=$((failed + 1))
    grep -E 'FAILED|Error|error:|Failure|assert' "$log" | head -20; tail -n 25 "$log"
  fi
}
check() { # check NAME COMMAND...: a check that either holds or not, counted as one test
  local name=$1 log="$logs/$1.log"; shift
  if "$@" >"$log" 2>&1; then printf 'ok    %s\n' "$name"; passed=$((passed + 1))
  else printf 'FAIL  %s\n' "$name"; tail -n 20 "$log"; failed=$((failed + 1)); status=1; fi
}

export TILEWRIGHT_BUILD_DIR=$PWD/build/release
export TILEWRIGHT_STORE=$PWD/build/test-store.db; rm -f "$TILEWRIGHT_STORE"*
check include-rules python3 scripts/check-includes.py
for tests in build/release/bin/*_tests; do suite "$(basename "$tests")" "$tests"; done
suite differential .venv/bin/python -m pytest -q -p no:cacheprovider tests/differential
suite python .venv/bin/python -m pytest -q -p no:cacheprovider tests/python ${fast:+-m "not slow"}
if [ -z "$fast" ]; then
  # Sanitized code has larger frames: the deepest sources that the parser takes need more stack.
  ulimit -s 262144 2>/dev/null || true
  for preset in asan tsan; do
    check "$preset-build" sh -c "cmake --preset $preset && cmake --build --preset $preset"
    # Without optimisation the inputs of 10 MB take a minute and more; the fuzz targets look for the same faults.
    for tests in build/$preset/bin/*_tests; do suite "$preset-$(basename "$tests")" env GTEST_FILTER="-LangBigInput.*" "$tests"; done
  done
  # Each fuzz target runs for TILEWRIGHT_FUZZ_SECONDS (0: not at all), two at once on two cores.
  export TILEWRIGHT_FUZZ_SECONDS=${TILEWRIGHT_FUZZ_SECONDS:-60} TILEWRIGHT_FUZZ_BUILD=build/asan
  if [ "$TILEWRIGHT_FUZZ_SECONDS" -gt 0 ]; then check fuzz scripts/fuzz.sh; fi
fi
line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ] && exit $status
exit 1
