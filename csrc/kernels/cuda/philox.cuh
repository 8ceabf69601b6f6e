// Philox4x32-10 on a GPU; equals core/philox.h.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace hone::kernels::cuda {

/// Replaces the counter c by its four random words.
__device__ __forceinline__ void philox4x32(uint32_t (&c)[4], uint64_t key) {
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
    c[0] = uint32_t(b >> 32) ^ c[1] ^ k0;
    c[1] = uint32_t(b);
    c[2] = uint32_t(a >> 32) ^ c[3] ^ k1;
    c[3] = uint32_t(a);
  }
}

}  // namespace hone::kernels::cuda
