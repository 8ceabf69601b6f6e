// The matrix loop of the output head before Hopper: a tile of rows times a tile of outputs; an epilogue turns
// the logits into the pass's result. Statistics, gradient and sampler all use it, so that for equal h their
// logits are equal to the bit: weights are the left operand for any number of rows, k ascends in steps of 16,
// parts of lower order come first, and after every 512 k the tensor core's sums, which it truncates, are
// added to a second set of f32 registers.
#pragma once

#include "core/cuda/launch.cuh"
#include "kernels/cuda/lm_head_weight.cuh"

namespace hone::kernels::cuda {

inline constexpr int kHeadStages = 4;
// stages after which sums are added to the second set of registers
inline constexpr int kHeadPromotion = 512 / kHeadDepth;
// floats between rows of a finished tile; the extra 4 avoid bank conflicts
inline constexpr int kHeadPitch = kHeadOutputs + 4;

/// A bf16 matrix of rows x depth whose rows are `pitch` (a multiple of 8) apart; its depth is that of the
/// weights.
struct HeadRows {
  const __nv_bfloat16* data;
  int64_t pitch;
  int rows;
};

/// A stage of rows in shared memory, [row][k]. fragments() loads the right operand for two times eight rows
/// at k.
template <int kCount>
struct RowsByDepth {
  static constexpr int kRows = kCount, kBytes = kRows * kHeadDepth * 2;

  static __device__ __forceinline__ void fetch(char* shared, const HeadRows& h, int row0, int k0, int depth) {
    for (int i = threadIdx.x; i < kRows * 4; i += kHeadThreads) {
      const int row = i / 4, piece = i % 4, k = k0 + piece * 8;
      const bool valid = row0 + row < h.rows && k < depth;
      cp_async16(shared + WeightBf16::offset(row, piece), valid ? h.data + int64_t(row0 + row) * h.pitch + k : h.data,
                 valid);
    }
  }
  static __device__ __forceinline__ void fragments(const char* shared, int row, int k, uint32_t (&four)[4]) {
    const int lane = threadIdx.x % 32, matrix = lane / 8;
    ldmatrix_x4(four, shared + WeightBf16::offset(row + matrix / 2 * 8 + lane % 8, k / 8 + matrix % 2));
  }
};

/// How the eight warps divide a tile of kRows x 128.
template <int kRows>
struct HeadTile {
  static constexpr int kRowWarps = kRows >= 64 ? 2 : 1;
  static constexpr int kWarpOutputs = kHeadOutputs * kRowWarps / 8, kWarpRows = kRows / kRowWarps;
  static constexpr int kOutputFragments = kWarpOutputs / 16, kRowFragments = kWarpRows / 8;
  static constexpr int kFragments = kOutputFragments * kRowFragments;
};

/// sums += products of one stage, for this warp's outputs and rows.
template <class Weight, class Rows, int kParts>
__device__ __forceinline__ void multiply_stage(
    const char* weights, const char* rows, int output, int row, float (&sums)[HeadTile<Rows::kRows>::kFragments][4]) {
  using Tile = HeadTile<Rows::kRows>;
#pragma unroll
  for (int k = 0; k < kHeadDepth; k += 16) {
    uint32_t right[Tile::kRowFragments][2];
#pragma unroll
    for (int j = 0; j < Tile::kRowFragments; j += 2) {
      uint32_t four[4];
      Rows::fragments(rows, row + j * 8, k, four);
      right[j][0] = four[0], right[j][1] = four[1], right[j + 1][0] = four[2], right[j + 1][1] = four[3];
    }
#pragma unroll
    for (int i = 0; i < Tile::kOutputFragments; ++i) {
      uint32_t left[kParts][4];
      Weight::fragment(weights, output + i * 16, k, left);
#pragma unroll
      for (int p = kParts - 1; p >= 0; --p) {
#pragma unroll
        for (int j = 0; j < Tile::kRowFragments; ++j) mma_bf16_16816(sums[i * Tile::kRowFragments + j], left[p], right[j]);
      }
    }
  }
}

/// Calls epilogue.row(row, first output of the lane, four values) with a whole warp for each existing row of
/// a finished tile [kRows, 128]; lane l has outputs 4 l .. 4 l + 3, counted from output0, a multiple of 128.
template <int kRows, class Epilogue>
__device__ __forceinline__ void finish_rows(const float* tile, int warp, int warps, int row0, int rows,
                                            int output0, const Epilogue& epilogue) {
  const int first = threadIdx.x % 32 * 4;
  for (int row = warp; row < kRows && row0 + row < rows; row += warps) {
    epilogue.row(row0 + row, output0 + first, *reinterpret_cast<const float4*>(tile + row * kHeadPitch + first));
  }
}

/// Block (x, y) computes the kRows rows from x kRows on, and the 128 outputs from 128 y on.
template <class Weight, class Rows, int kParts, class Epilogue>
__global__ void __launch_bounds__(kHeadThreads) head_tile_kernel(HeadWeight w, HeadRows h, Epilogue epilogue) {
  constexpr int kRows = Rows::kRows;
  using Tile = HeadTile<kRows>;
  HONE_DYNAMIC_SHARED(char, shared);
  char* const row_stages = shared + kHeadStages * Weight::kBytes;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int row0 = blockIdx.x * kRows, output0 = blockIdx.y * kHeadOutputs;
  const int warp_row = warp % Tile::kRowWarps * Tile::kWarpRows, warp_output = warp / Tile::kRowWarps * Tile::kWarpOutputs;
  // the warp's part is beyond the edge of the matrix
  const bool idle = row0 + warp_row >= h.rows || output0 + warp_output >= w.outputs;
  const int stages = (w.depth + kHeadDepth - 1) / kHeadDepth;
  const auto fetch = [&](int stage) {
    if (stage < stages) {
      Weight::fetch(shared + stage % kHeadStages * Weight::kBytes, w, output0, stage * kHeadDepth);
      Rows::fetch(row_stages + stage % kHeadStages * Rows::kBytes, h, row0, stage * kHeadDepth, w.depth);
    }
    cp_async_commit();
  };
  float sums[Tile::kFragments][4] = {}, promoted[Tile::kFragments][4] = {};
  for (int stage = 0; stage < kHeadStages - 1; ++stage) fetch(stage);
  for (int stage = 0; stage < stages; ++stage) {
    cp_async_wait<kHeadStages - 2>();
    __syncthreads();
    fetch(stage + kHeadStages - 1);
    if (idle) continue;
    multiply_stage<Weight, Rows, kParts>(shared + stage % kHeadStages * Weight::kBytes,
                                         row_stages + stage % kHeadStages * Rows::kBytes, warp_output, warp_row, sums);
    if ((stage + 1) % kHeadPromotion != 0 && stage + 1 != stages) continue;
#pragma unroll
    for (int i = 0; i < Tile::kFragments * 4; ++i) {
      promoted[i / 4][i % 4] += sums[i / 4][i % 4];
      sums[i / 4][i % 4] = 0.0f;
    }
  }
  cp_async_wait<0>();
  __syncthreads();  // the memory of the stages becomes that of the finished tile
  float* const tile = reinterpret_cast<float*>(shared);
#pragma unroll
  for (int i = 0; i < Tile::kFragments; ++i) {
    const int row = warp_row + i % Tile::kRowFragments * 8 + t * 2;
    const int output = warp_output + i / Tile::kRowFragments * 16 + g;
#pragma unroll
    for (int r = 0; r < 4; ++r) tile[(row + r % 2) * kHeadPitch + output + r / 2 * 8] = promoted[i][r];
  }
  __syncthreads();
  finish_rows<kRows>(tile, warp, kHeadThreads / 32, row0, h.rows, output0, epilogue);
}

/// Rows vary fastest among blocks, so that blocks which read the same weights run at the same time.
template <int kRows>
dim3 head_grid(const HeadWeight& w, const HeadRows& h) {
  return dim3(unsigned((h.rows + kRows - 1) / kRows), unsigned(head_tiles(w.outputs)));
}

template <class Weight, class Rows, int kParts, class Epilogue>
void launch_head_tile(const Stream& stream, const HeadWeight& w, const HeadRows& h, const Epilogue& epilogue) {
  constexpr int kStageBytes = kHeadStages * (Weight::kBytes + Rows::kBytes), kTileBytes = Rows::kRows * kHeadPitch * 4;
  HONE_LAUNCH((head_tile_kernel<Weight, Rows, kParts, Epilogue>), head_grid<Rows::kRows>(w, h), dim3(kHeadThreads),
              size_t(kStageBytes > kTileBytes ? kStageBytes : kTileBytes), stream, w, h, epilogue);
}

}  // namespace hone::kernels::cuda
