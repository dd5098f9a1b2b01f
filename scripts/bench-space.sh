#!/usr/bin/env bash
# Quality and speed of candidate order:
#   - recorded GPU config grids (FAMILY.jsonl or FAMILY.jsonl.gz), ranked by the model: those of benchmarks/space/grids
#     (recorded by record_grid.py), and others' beside them
#   - published times of Ascend chips, ordered by the model
#   - time of analysis, generation and ranking
# The others' are not part of the project. What is not given is skipped, visibly:
#   scripts/bench-space.sh [--grids DIR] [--pairs FILE] [options of space_benchmark]
# or TILEWRIGHT_GRIDS=DIR with h200/ and ascend/published_pairs.json in it.
set -euo pipefail
cd "$(dirname "$0")/.."
program=build/release/bin/space_benchmark
if [ ! -x "$program" ]; then
  cmake --preset release -DTILEWRIGHT_BUILD_BENCHMARKS=ON >/dev/null
  cmake --build --preset release --target space_benchmark
fi
grids="${TILEWRIGHT_GRIDS:+$TILEWRIGHT_GRIDS/h200}"
pairs="${TILEWRIGHT_GRIDS:+$TILEWRIGHT_GRIDS/ascend/published_pairs.json}"
rest=()
while [ $# -gt 0 ]; do
  case "$1" in
    --grids) grids="$2"; shift 2 ;;
    --pairs) pairs="$2"; shift 2 ;;
    *) rest+=("$1"); shift ;;
  esac
done
arguments=(--speed 5)
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
unpack() { # unpack FOLDER NAME: its grids, as plain text in a folder that is then replayed
  mkdir "$unpacked/$2"
  for file in "$1"/*.jsonl "$1"/*.jsonl.gz; do
    case "$file" in
      *.gz) [ -f "$file" ] && gzip -dc "$file" >"$unpacked/$2/$(basename "$file" .gz)" ;;
      *) [ -f "$file" ] && cp "$file" "$unpacked/$2/" ;;
    esac
  done
  arguments+=(--grids "$unpacked/$2")
}
unpack benchmarks/space/grids/h200 own
if [ -n "$grids" ] && [ -d "$grids" ]; then unpack "$grids" others; fi
if [ -n "$pairs" ] && [ -f "$pairs" ]; then
  arguments+=(--pairs "$pairs")
fi
"$program" "${arguments[@]}" "${rest[@]}"
