// How a group of four warps holds wgmma's operands and sums in registers; for kernels of tests.
#pragma once

#include "kernels/cuda/matmul_plan.h"

namespace hone::test {

using kernels::cuda::hopper_byte;
using kernels::cuda::swizzle128;

// Which element a thread's i-th value is: row + 64 column. From CuTe's CLayout_64xN and ALayout_64x16,
// threads (4, 8, 4) : (128, 1, 16), values (2, 2, N / 8) : (64, 8, 512); Triton's fragments agree.
__device__ inline int element_of(int i) {
  const int t = int(threadIdx.x);
  return t % 4 * 128 + t / 4 % 8 + t / 32 * 16 + i % 2 * 64 + i / 2 % 2 * 8 + i / 4 * 512;
}

/// Loads the left operand's fragment of 16 k from a tile that the copy engine (TMA) wrote.
template <int kLinesA>
__device__ inline void load_fragment(const unsigned char* tile, int k, uint32_t (&a)[4]) {
  for (int r = 0; r < 4; ++r) {
    a[r] = 0;
    for (int half = 0; half < 2; ++half) {
      const auto at = uint32_t(element_of(2 * r + half));
      const uint32_t byte = swizzle128(hopper_byte(kLinesA, at % 64, uint32_t(k) + at / 64));
      a[r] |= uint32_t(*reinterpret_cast<const uint16_t*>(tile + byte)) << 16 * half;
    }
  }
}

}  // namespace hone::test
