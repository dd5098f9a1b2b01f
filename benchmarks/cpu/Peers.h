#pragma once
#include <cstdint>

/// What generated code is compared with: plain loops written by hand over native-width vectors, compiled with
/// -O3 -march=native (peers_avx2: -march=x86-64-v3), on one thread.
#define TILEWRIGHT_DECLARE_PEERS(NAME)                                                                       \
  namespace tilewright::NAME {                                                                               \
  void vectorAdd(const float *x, const float *y, float *out, int64_t count);                                 \
  /* Three passes a row: maximum; exponential, kept in the output, and sum; scale. */                        \
  void softmaxRows(const float *x, float *y, int64_t rows, int64_t cols);                                    \
  /* Two passes over blocks of 1024 columns, as softmax_online has them: running maximum and sum;            \
     exponential again, and scale. */                                                                        \
  void softmaxOnline(const float *x, float *y, int64_t rows, int64_t cols);                                  \
  }
TILEWRIGHT_DECLARE_PEERS(peers)
TILEWRIGHT_DECLARE_PEERS(peers_avx2)
#undef TILEWRIGHT_DECLARE_PEERS
