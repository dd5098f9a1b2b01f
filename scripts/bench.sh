#!/usr/bin/env bash
# Ratios against peers, in one run. OpenBLAS takes the kernel that fits this CPU, one thread on both sides.
set -euo pipefail
cd "$(dirname "$0")/.."
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
# TILEWRIGHT_CPU_ISA=avx2: both sides as on a machine without AVX-512.
if [ "${TILEWRIGHT_CPU_ISA:-}" = avx2 ]; then export OPENBLAS_CORETYPE=Haswell; fi
OPENBLAS_NUM_THREADS=1 TILEWRIGHT_THREADS=1 build/release/bin/cpu_ratios "$@"
