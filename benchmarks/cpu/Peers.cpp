#include "Peers.h"

#include <cmath>
#include <cstring>

#ifndef TILEWRIGHT_PEERS
#define TILEWRIGHT_PEERS peers
#endif
namespace tilewright::TILEWRIGHT_PEERS {

namespace {

#if defined(__AVX512F__)
constexpr int64_t kLanes = 16;
#else
constexpr int64_t kLanes = 8;
#endif
typedef float Floats __attribute__((vector_size(kLanes * 4)));
typedef int32_t Ints __attribute__((vector_size(kLanes * 4)));

Floats load(const float *from) {
  Floats out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}
void store(float *to, Floats value) { std::memcpy(to, &value, sizeof(value)); }

/// e^x for x <= 0: 2^n times a polynomial (Cephes' coefficients), about 1 ulp.
inline Floats expNegative(Floats x) {
  const Floats lowest = Floats{} - 87.3f;
  x = x < lowest ? lowest : x;
  const Floats magic = Floats{} + 12582912.0f; // rounds to an integer in the low mantissa bits
  const Floats shifted = x * 1.44269504f + magic;
  const Floats n = shifted - magic;
  Floats r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 23) + 0x3F800000;
  Floats scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return p * scale;
}

} // namespace

void vectorAdd(const float *x, const float *y, float *out, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(out + i, load(x + i) + load(y + i));
  for (; i < count; ++i)
    out[i] = x[i] + y[i];
}

void softmaxRows(const float *x, float *y, int64_t rows, int64_t cols) {
  const int64_t full = cols / kLanes * kLanes;
  for (int64_t row = 0; row < rows; ++row) {
    const float *in = x + row * cols;
    float *out = y + row * cols;
    Floats largestLanes = Floats{} - INFINITY;
    for (int64_t i = 0; i < full; i += kLanes) {
      const Floats v = load(in + i);
      largestLanes = v > largestLanes ? v : largestLanes;
    }
    float largest = -INFINITY;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      largest = std::fmax(largest, largestLanes[lane]);
    for (int64_t i = full; i < cols; ++i)
      largest = std::fmax(largest, in[i]);

    Floats sums{};
    for (int64_t i = 0; i < full; i += kLanes) {
      const Floats e = expNegative(load(in + i) - largest);
      store(out + i, e);
      sums += e;
    }
    float sum = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      sum += sums[lane];
    for (int64_t i = full; i < cols; ++i)
      sum += out[i] = std::exp(in[i] - largest);

    const float scale = 1.0f / sum;
    for (int64_t i = 0; i < full; i += kLanes)
      store(out + i, load(out + i) * scale);
    for (int64_t i = full; i < cols; ++i)
      out[i] *= scale;
  }
}

void softmaxOnline(const float *x, float *y, int64_t rows, int64_t cols) {
  constexpr int64_t kBlock = 1024;
  for (int64_t row = 0; row < rows; ++row) {
    const float *in = x + row * cols;
    float *out = y + row * cols;
    float largest = -INFINITY, total = 0;
    for (int64_t start = 0; start < cols; start += kBlock) {
      const int64_t end = start + kBlock < cols ? start + kBlock : cols;
      const int64_t full = start + (end - start) / kLanes * kLanes;
      Floats largestLanes = Floats{} - INFINITY;
      for (int64_t i = start; i < full; i += kLanes) {
        const Floats v = load(in + i);
        largestLanes = v > largestLanes ? v : largestLanes;
      }
      float now = largest;
      for (int64_t lane = 0; lane < kLanes; ++lane)
        now = std::fmax(now, largestLanes[lane]);
      for (int64_t i = full; i < end; ++i)
        now = std::fmax(now, in[i]);
      Floats sums{};
      for (int64_t i = start; i < full; i += kLanes)
        sums += expNegative(load(in + i) - now);
      float sum = 0;
      for (int64_t lane = 0; lane < kLanes; ++lane)
        sum += sums[lane];
      for (int64_t i = full; i < end; ++i)
        sum += std::exp(in[i] - now);
      total = total * std::exp(largest - now) + sum;
      largest = now;
    }
    const float scale = 1.0f / total;
    const int64_t full = cols / kLanes * kLanes;
    for (int64_t i = 0; i < full; i += kLanes)
      store(out + i, expNegative(load(in + i) - largest) * scale);
    for (int64_t i = full; i < cols; ++i)
      out[i] = std::exp(in[i] - largest) * scale;
  }
}

} // namespace tilewright::TILEWRIGHT_PEERS
