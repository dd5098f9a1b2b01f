#pragma once
#include <cstdint>

/// What generated code is compared with: plain loops written by hand over native-width vectors, compiled with
/// -O3 -march=native, on one thread.
namespace tilewright::peers {

void vectorAdd(const float *x, const float *y, float *out, int64_t count);
/// Three passes a row: maximum; exponential, kept in the output, and sum; scale.
void softmaxRows(const float *x, float *y, int64_t rows, int64_t cols);

} // namespace tilewright::peers
