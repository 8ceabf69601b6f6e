// A tile of a matrix product by mma.sync: operands stream through shared memory, sums stay in registers.
#pragma once

#include "core/cuda/launch.cuh"
#include "kernels/cuda/async.cuh"
#include "kernels/cuda/matmul_product.cuh"
#include "kernels/cuda/mma.cuh"

namespace hone::kernels::cuda {

/// kRows x kColumns outputs, computed by kWarpRows x kWarpColumns warps; kStages stages of kDepth terms are
/// loading or in use.
template <int kRows_, int kColumns_, int kDepth_, int kWarpRows_, int kWarpColumns_, int kStages_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_, kStages = kStages_;
  static constexpr int kWarpColumns = kWarpColumns_, kThreads = 32 * kWarpRows_ * kWarpColumns_;
  // a warp's fragments of 16 rows, and of 16 columns
  static constexpr int kHigh = kRows / kWarpRows_ / 16, kWide = kColumns / kWarpColumns_ / 16;
  static_assert(kHigh * 16 * kWarpRows_ == kRows && kWide * 16 * kWarpColumns_ == kColumns, "warps fill the tile");
  static_assert(kPieceGrain % kDepth == 0 && kDepth % 16 == 0, "no stage crosses a piece");
};

// Tile sizes are chosen by calculation, not yet by measurement: small tiles by the bytes that are loading,
// large tiles by registers (64 sums per thread).
using Tile16 = Tile<16, 64, 64, 1, 4, 6>;    // 60 KB of shared memory
using Tile64 = Tile<64, 64, 64, 2, 2, 4>;    // 64 KB
using Tile128 = Tile<128, 128, 32, 2, 4, 4>;  // 64 KB

struct alignas(16) Chunk { __nv_bfloat16 value[8]; };

/// One operand's part of a stage in shared memory: kLines rows or columns of the output by kDepth, swizzled.
template <int kLines, int kDepth, Inside kInside, int kThreads>
struct OperandStage {
  static constexpr int kHeight = kInside == Inside::kDepth ? kLines : kDepth;
  static constexpr int kChunks = (kInside == Inside::kDepth ? kDepth : kLines) / 8;
  static constexpr int kSize = kHeight * kChunks;
  static_assert(kSize % kThreads == 0, "every thread copies as much");

  /// Starts copying lines [line, line + kLines) of depth [k, k + kDepth); writes zeros beyond the operand.
  /// Rows that are not 16-byte aligned are read element by element, synchronously.
  static __device__ __forceinline__ void load(Chunk* stage, const Operand& from, int64_t line, int64_t k) {
    const int64_t top = kInside == Inside::kDepth ? line : k, left = kInside == Inside::kDepth ? k : line;
    if (from.aligned) {
#pragma unroll
      for (int i = 0; i < kSize / kThreads; ++i) {
        const int index = i * kThreads + int(threadIdx.x), row = index / kChunks, chunk = index % kChunks;
        const int64_t r = top + row, c = left + 8 * chunk;
        const bool valid = r < from.height && c < from.width;
        cp_async16(stage + swizzled(row, chunk, kChunks), valid ? from.data + r * from.stride + c : from.data, valid);
      }
      return;
    }
#pragma unroll 1
    for (int index = int(threadIdx.x); index < kSize * 8; index += kThreads) {
      const int row = index / (8 * kChunks), column = index % (8 * kChunks);
      const int64_t r = top + row, c = left + column;
      const bool valid = r < from.height && c < from.width;
      stage[swizzled(row, column / 8, kChunks)].value[column % 8] =
          valid ? from.data[r * from.stride + c] : __float2bfloat16(0.0f);
    }
  }

  /// Loads four 8 x 8 fragments; (line, k) is the start of the fragment whose address this lane passes.
  static __device__ __forceinline__ void fragments(uint32_t (&r)[4], const Chunk* stage, int line, int k) {
    const int inner = int(threadIdx.x) % 8;
    if constexpr (kInside == Inside::kDepth) ldmatrix_x4(r, stage + swizzled(line + inner, k / 8, kChunks));
    else ldmatrix_x4_trans(r, stage + swizzled(k + inner, line / 8, kChunks));
  }
};

template <class T>
using Sums = float[T::kHigh][2 * T::kWide][4];

/// sums += products of one stage, 16 terms at a time in ascending k.
template <class T, class A, class B>
__device__ __forceinline__ void multiply_stage(Sums<T>& sums, const Chunk* a_stage, const Chunk* b_stage) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int line_a = warp / T::kWarpColumns * T::kHigh * 16, line_b = warp % T::kWarpColumns * T::kWide * 16;
  // which of the four matrices the lane addresses, see mma.cuh
  const int bit3 = lane / 8 % 2 * 8, bit4 = lane / 16 * 8;
#pragma unroll
  for (int k = 0; k < T::kDepth; k += 16) {
    uint32_t a[T::kHigh][4];
#pragma unroll
    for (int i = 0; i < T::kHigh; ++i) A::fragments(a[i], a_stage, line_a + 16 * i + bit3, k + bit4);
#pragma unroll
    for (int j = 0; j < T::kWide; ++j) {
      uint32_t b[4];
      B::fragments(b, b_stage, line_b + 16 * j + bit4, k + bit3);
      const uint32_t left[2] = {b[0], b[1]}, right[2] = {b[2], b[3]};
#pragma unroll
      for (int i = 0; i < T::kHigh; ++i) {
        mma_bf16_16816(sums[i][2 * j], a[i], left);
        mma_bf16_16816(sums[i][2 * j + 1], a[i], right);
      }
    }
  }
}

/// Called after the last step of a piece of the depth: totals += sums; sums = 0.
template <class T>
__device__ __forceinline__ void end_piece(Sums<T>& totals, Sums<T>& sums) {
#pragma unroll
  for (int i = 0; i < T::kHigh; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * T::kWide; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        totals[i][j][e] += sums[i][j][e];
        sums[i][j][e] = 0.0f;
      }
    }
  }
}

template <class T>
__device__ __forceinline__ void store_tile(const Product& p, const BlockWork& work, const Sums<T>& sums) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const Output out = output_of(p, work);
  const int64_t column = work.column + warp % T::kWarpColumns * T::kWide * 16 + sum_column(lane);
#pragma unroll
  for (int i = 0; i < T::kHigh; ++i) {
    const int64_t row = work.row + (warp / T::kWarpColumns * T::kHigh + i) * 16 + sum_row(lane);
    store_sums<2 * T::kWide, 4 * T::kWide>(p, out, row, column, [&](int j, int e) { return sums[i][j][e]; });
  }
}

/// Blocks per multiprocessor: as many as registers allow.
template <class T>
inline constexpr int kBlocksPerProcessor = T::kRows == 128 ? 2 : 3;

/// Dynamic shared memory of a block that computes a tile.
template <class T>
inline constexpr int kSharedBytes = T::kStages * (T::kRows + T::kColumns) * T::kDepth * int(sizeof(__nv_bfloat16));

/// Run by a whole block: computes the tile `work` over its pieces of k. It reads (kRows + kColumns) depth elements per tile, for 2
/// kRows kColumns depth operations. kWalk: adds the pieces of a product that is not spread in separate
/// registers.
template <class T, Inside kA, Inside kB, bool kWalk>
__device__ __forceinline__ void compute_tile(const Product& p, const BlockWork& work) {
  using A = OperandStage<T::kRows, T::kDepth, kA, T::kThreads>;
  using B = OperandStage<T::kColumns, T::kDepth, kB, T::kThreads>;
  HONE_DYNAMIC_SHARED(Chunk, shared);
  Chunk *const a_stages = shared, *const b_stages = shared + T::kStages * A::kSize;
  const Range depth = depth_of(p.depth, p.pieces, work);
  const int steps = int(ceil_div(depth.end - depth.begin, T::kDepth));
  const auto load = [&](int step) {
    if (step < steps) {
      const int stage = step % T::kStages;
      A::load(a_stages + stage * A::kSize, p.a, work.row, depth.begin + int64_t(step) * T::kDepth);
      B::load(b_stages + stage * B::kSize, p.b, work.column, depth.begin + int64_t(step) * T::kDepth);
    }
    cp_async_commit();  // even if empty, so that the number of groups equals that of steps
  };
  Sums<T> sums = {};
  Sums<T> totals = {};  // unused without kWalk; then it takes no registers
  const int piece_steps = int(piece_of(p.depth, p.pieces, 0).end / T::kDepth);
  int left = piece_steps;
#pragma unroll
  for (int step = 0; step < T::kStages - 1; ++step) load(step);
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<T::kStages - 2>();
    __syncthreads();  // all threads see this step's bytes, and no thread reads the previous stage any more
    load(step + T::kStages - 1);
    const int stage = step % T::kStages;
    multiply_stage<T, A, B>(sums, a_stages + stage * A::kSize, b_stages + stage * B::kSize);
    if constexpr (kWalk) {
      if (--left == 0) {
        end_piece<T>(totals, sums);
        left = piece_steps;
      }
    }
  }
  if constexpr (kWalk) {
    end_piece<T>(totals, sums);  // ends a shorter last piece; adds 0 after a full one
    store_tile<T>(p, work, totals);
  } else {
    store_tile<T>(p, work, sums);
  }
}

/// A block computes a tile.
template <class T, Inside kA, Inside kB, bool kWalk>
__global__ void __launch_bounds__(T::kThreads, kWalk ? 1 : kBlocksPerProcessor<T>) product_kernel(Product p) {
  compute_tile<T, kA, kB, kWalk>(p, work_of(blockIdx.x, p.rows, p.columns, p.pieces, p.spread, T::kRows, T::kColumns));
}

template <class T, Inside kA, Inside kB, bool kWalk>
void launch_product(const Stream& stream, const Product& p) {
  const int64_t blocks = blocks_of(p.rows, p.columns, p.pieces, p.spread, T::kRows, T::kColumns);
  HONE_LAUNCH((product_kernel<T, kA, kB, kWalk>), unsigned(blocks), T::kThreads, kSharedBytes<T>, stream, p);
}

}  // namespace hone::kernels::cuda
