// Softmax state (m, l, o) of a row over some keys, and its merge with the state over other keys. CPU
// attention, decode steps on a GPU and the packed forward all use these functions.
#pragma once

#include "core/host_device.h"

namespace hone::kernels {

/// Factors that bring two states a and b to one maximum: m = `maximum`, l = a l_a + b l_b, o = a o_a + b o_b.
struct MergeWeights {
  float maximum, a, b;
};

/// Computes the factors; `exp` maps a difference of maxima to a weight. A state without keys has m = -inf, l
/// = 0, o = 0; merging it leaves the other state bit-identical.
template <class Exp>
HONE_HOST_DEVICE MergeWeights merge_weights(float m_a, float m_b, const Exp& exp) {
  const float maximum = m_a > m_b ? m_a : m_b;
  if (maximum == -__builtin_inff()) return {maximum, 0.0f, 0.0f};  // without this check: -inf - -inf = NaN
  return {maximum, exp(m_a - maximum), exp(m_b - maximum)};
}

}  // namespace hone::kernels
