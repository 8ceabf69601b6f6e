// Computes dz, the gradient of a row's logits, from an objective's coefficients; for every kernel that writes
// dz.
#pragma once

#include <cuda_bf16.h>

#include "kernels/cuda/lm_head_weight.cuh"

namespace hone::kernels::cuda {

/// Stores four values, rounded to bf16.
__device__ __forceinline__ void store_bf16(__nv_bfloat16* to, const float (&x)[4]) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]));
}

/// Computes dLoss/dz of the ids of one row.
struct RowSlopes {
  float up, bonus, lse, entropy;
  int target;

  /// The gradient for one id; y: its logit divided by the temperature.
  __device__ __forceinline__ float of(int id, float y) const {
    const float log_p = y - lse;
    const float factor = bonus != 0.0f ? fmaf(bonus, log_p + entropy, -up) : -up;
    return fmaf(expf(log_p), factor, id == target ? up : 0.0f);
  }
};

/// Inputs of dLoss/dz of all rows: results of the statistics pass, and LmHeadGradArgs::a and b.
struct HeadSlopes {
  const float *lse, *entropies, *a, *b;  // b may be null
  const int32_t* targets;
  float inverse_temperature;

  __device__ __forceinline__ RowSlopes row(int row) const {
    const float bonus = b ? -b[row] * inverse_temperature : 0.0f;
    return {a[row] * inverse_temperature, bonus, lse[row], entropies[row], targets[row]};
  }
};

}  // namespace hone::kernels::cuda
