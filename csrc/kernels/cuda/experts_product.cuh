// Products with one matrix per expert: arguments that the portable kernels and Hopper's share.
#pragma once

#include "kernels/cuda/matmul_product.cuh"

namespace hone::kernels::cuda {

/// The products of all experts: those of `all` with its rows divided among the experts.
struct ExpertProducts {
  Product all;             // b: the matrix of the first expert; out.bias: null, or its bias
  const int32_t* begins;   // [E + 1]
  int experts;
  int64_t matrix_stride;   // elements from one expert's matrix to the next
  uint32_t tiles_across;

  /// Rows of tiles that are enough for any distribution of the pairs: every expert that has pairs has at most one tile that is not full.
  int64_t most_tiles_down(int tile_rows) const { return all.rows / tile_rows + std::min<int64_t>(experts, all.rows); }
};

/// The gradients of all experts' weights: for each expert the product `all` over its pairs whose row is in [first_row, last_row).
struct ExpertSums {
  Product all;  // a: dy, b: x, of all pairs; out: that of the first expert
  const int32_t *begins, *rows;
  int experts;
  int64_t first_row, last_row;

  /// The pairs of an expert that its gradient sums.
  __device__ __forceinline__ Range pairs_of(int expert) const {
    const int end = begins[expert + 1], from = first_not_below(begins[expert], end, first_row);
    return {from, first_not_below(from, end, last_row)};
  }

 private:
  /// The first index in [low, high) of `rows`, ascending there, that is not below `row`; high if there is none.
  __device__ __forceinline__ int first_not_below(int low, int high, int64_t row) const {
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (rows[middle] < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

/// Both with Hopper's wgmma (experts_product_sm90.cu). transposed: of the experts' matrices, as PackedMatrix says.
void multiply_experts_sm90(const Stream& stream, ExpertProducts g, bool transposed);
void sum_experts_sm90(const Stream& stream, const ExpertSums& g);

}  // namespace hone::kernels::cuda
