#!/usr/bin/env bash
# The main job, twice: the command line tunes the example kernels from their shapes alone, then Python does what a user of
# the guide would write. Each result is compared with the interpreter and with NumPy.
set -euo pipefail
cd "$(dirname "$0")/.."
tilewright=build/release/bin/tilewright
export TILEWRIGHT_STORE=$PWD/build/demo-store.db
rm -f "$TILEWRIGHT_STORE"*

demo() { # demo TITLE KERNEL GRID ARGUMENT...
  local title=$1 kernel=$2 grid=$3; shift 3
  local arguments=()
  for argument in "$@"; do arguments+=(-a "$argument"); done
  printf '\n== %s\n' "$title"
  "$tilewright" tune "$kernel" --target cpu -g "$grid" "${arguments[@]}"
  echo "-- again: from the store"
  "$tilewright" tune "$kernel" --target cpu -g "$grid" "${arguments[@]}"
}

demo "vector add" examples/vector_add.py:vector_add "(cdiv(n_elements, BLOCK),)" \
  'x=f32[98432]' 'y=f32[98432]' 'out=f32[98432]' n_elements=98432
demo "softmax, one shot" examples/softmax.py:softmax_one_shot "(4096,)" \
  'x=f32[4096,781]' 'y=f32[4096,781]' x_row_stride=781 y_row_stride=781 n_cols=781
demo "softmax, online" examples/softmax.py:softmax_online "(cdiv(n_rows, ROWS),)" \
  'x=f32[4096,3000]' 'y=f32[4096,3000]' x_row_stride=3000 y_row_stride=3000 n_rows=4096 n_cols=3000
demo "layer norm" examples/layer_norm.py:layer_norm "(cdiv(n_rows, ROWS),)" \
  'x=f32[4096,1000]' 'y=f32[4096,1000]' 'weight=f32[1000]' 'bias=f32[1000]' row_stride=1000 n_rows=4096 n_cols=1000 eps=1e-5
for dtype in f32 f16; do
  demo "matmul, $dtype" examples/matmul.py:matmul "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)" \
    "a=${dtype}[512,512]" "b=${dtype}[512,512]" "c=${dtype}[512,512]" M=512 N=512 K=512 \
    stride_am=512 stride_ak=1 stride_bk=512 stride_bn=1 stride_cm=512 stride_cn=1
done

printf '\n== results against the interpreter\n'
check() { "$tilewright" run "$@" --target cpu --check interp; }
check examples/vector_add.py:vector_add -g "(cdiv(n_elements, BLOCK),)" -c BLOCK=1024 -a 'x=f32[9843]' -a 'y=f32[9843]' -a 'out=f32[9843]' -a n_elements=9843
check examples/softmax.py:softmax_one_shot -g "(64,)" -c BLOCK=1024 -a 'x=f32[64,781]' -a 'y=f32[64,781]' -a x_row_stride=781 -a y_row_stride=781 -a n_cols=781
check examples/softmax.py:softmax_online -g "(cdiv(n_rows, ROWS),)" -c ROWS=4,COLS=256 -a 'x=f32[70,781]' -a 'y=f32[70,781]' -a x_row_stride=781 -a y_row_stride=781 -a n_rows=70 -a n_cols=781
check examples/layer_norm.py:layer_norm -g "(cdiv(n_rows, ROWS),)" -c ROWS=4,COLS=256 -a 'x=f32[70,781]' -a 'y=f32[70,781]' -a 'weight=f32[781]' -a 'bias=f32[781]' -a row_stride=781 -a n_rows=70 -a n_cols=781 -a eps=1e-5
for dtype in f32 f16; do
  check examples/matmul.py:matmul -g "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)" -c BLOCK_M=32,BLOCK_N=64,BLOCK_K=32,GROUP_SIZE_M=4 \
    -a "a=${dtype}[100,70]" -a "b=${dtype}[70,130]" -a "c=${dtype}[100,130]" -a M=100 -a N=130 -a K=70 \
    -a stride_am=70 -a stride_ak=1 -a stride_bk=130 -a stride_bn=1 -a stride_cm=130 -a stride_cn=1
done

printf '\n== results against NumPy\n'
.venv/bin/python examples/check_numpy.py
printf '\n== the quick start, in Python\n'
.venv/bin/python examples/quickstart.py
