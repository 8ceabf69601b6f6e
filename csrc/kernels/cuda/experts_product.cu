// Products with one matrix per expert on a GPU: by mma.sync here, by wgmma in experts_product_sm90.cu. The host does not know how many pairs each expert has: it launches as many
// blocks as any distribution of the pairs needs. Each block finds its expert, and ends at once if no expert is left for it. A tile is computed as
// that of any other product, so that a pair's bits are those of `linear` with the portable kernels.
#include <algorithm>

#include "kernels/cuda/experts.h"
#include "kernels/cuda/experts_product.cuh"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_tile.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

/// Tile `row` of the pairs of an expert, which are `count` from `first` on; expert -1: there is no such tile.
struct ExpertTile {
  int expert, first, count;
  int64_t row;
};

/// Finds tile `index` if tiles of kRows rows are numbered expert after expert. Run by whole warps.
template <int kRows>
__device__ __forceinline__ ExpertTile find_tile(const int32_t* begins, int experts, uint32_t index) {
  const int lane = int(threadIdx.x) % 32;
  uint32_t before = 0;
  for (int base = 0; base < experts; base += 32) {
    const int e = min(base + lane, experts - 1), first = begins[e], count = base + lane < experts ? begins[e + 1] - first : 0;
    const uint32_t tiles = uint32_t(count + kRows - 1) / kRows;
    const uint32_t through = sum_up_to_lane(tiles);
    const unsigned beyond = __ballot_sync(kFullWarp, before + through > index);
    if (beyond != 0) {
      const int at = __ffs(int(beyond)) - 1;
      const uint32_t passed = before + __shfl_sync(kFullWarp, through - tiles, at);
      return {base + at, __shfl_sync(kFullWarp, first, at), __shfl_sync(kFullWarp, count, at), int64_t(index - passed) * kRows};
    }
    before += __shfl_sync(kFullWarp, through, 31);
  }
  return {-1, 0, 0, 0};
}

/// An operand's rows [first, first + count).
__device__ __forceinline__ Operand rows_of(Operand m, int64_t first, int64_t count) {
  m.data += first * m.stride;
  m.height = count;
  return m;
}

template <class T, Inside kB, bool kWalk>
__global__ void __launch_bounds__(T::kThreads, kWalk ? 1 : kBlocksPerProcessor<T>) experts_linear_kernel(ExpertProducts g) {
  const ExpertTile tile = find_tile<T::kRows>(g.begins, g.experts, blockIdx.x / g.tiles_across);
  if (tile.expert < 0) return;
  Product p = g.all;
  p.rows = tile.count;
  p.a = rows_of(p.a, tile.first, tile.count);
  p.b.data += tile.expert * g.matrix_stride;
  p.out.data = static_cast<__nv_bfloat16*>(p.out.data) + tile.first * p.out.stride;
  if (p.out.bias) p.out.bias += tile.expert * p.columns;
  const int64_t column = int64_t(blockIdx.x % g.tiles_across) * T::kColumns;
  compute_tile<T, Inside::kDepth, kB, kWalk>(p, {tile.row, column, 0, p.pieces});
}

/// blockIdx: tile of columns, tile of rows, expert.
template <class T>
__global__ void __launch_bounds__(T::kThreads, kBlocksPerProcessor<T>) experts_grad_weight_kernel(ExpertSums g) {
  const int e = int(blockIdx.z);
  const Range pairs = g.pairs_of(e);
  if (pairs.begin == pairs.end) return;
  Product p = g.all;
  p.depth = pairs.end - pairs.begin;
  p.a = rows_of(p.a, pairs.begin, p.depth);
  p.b = rows_of(p.b, pairs.begin, p.depth);
  p.out.data = static_cast<float*>(p.out.data) + e * p.rows * p.out.stride;
  compute_tile<T, Inside::kLines, Inside::kLines, false>(p, {int64_t(blockIdx.y) * T::kRows, int64_t(blockIdx.x) * T::kColumns, 0, 1});
}

/// The distance between the experts' matrices, in elements.
int64_t distance_of(const std::vector<PackedMatrix>& w) {
  if (w.size() == 1) return 0;
  const auto* const first = static_cast<const __nv_bfloat16*>(w[0].panels);
  const int64_t distance = static_cast<const __nv_bfloat16*>(w[1].panels) - first;
  for (size_t e = 2; e < w.size(); ++e) {
    if (w[e].panels == first + int64_t(e) * distance) continue;
    fail(Code::kInternal, "experts_linear: the matrix of expert %zu does not lie as far from the previous one as that of expert 1.", e);
  }
  return distance;
}

template <class T, Inside kB, bool kWalk>
void launch_linear(const Stream& stream, ExpertProducts g) {
  g.tiles_across = uint32_t(ceil_div(g.all.columns, T::kColumns));
  HONE_LAUNCH((experts_linear_kernel<T, kB, kWalk>), blocks_for(g.most_tiles_down(T::kRows) * g.tiles_across, 1), T::kThreads, kSharedBytes<T>, stream, g);
}

template <class T>
void launch_tiles(const Stream& stream, const ExpertProducts& g, bool transposed) {
  if (transposed) return launch_linear<T, Inside::kLines, false>(stream, g);
  if (g.all.pieces > 1) return launch_linear<T, Inside::kDepth, true>(stream, g);
  launch_linear<T, Inside::kDepth, false>(stream, g);
}

}  // namespace

void experts_linear(const Stream& stream, const ExpertsLinearArgs& args) {
  const PackedMatrix& w = args.w.front();
  ExpertProducts g{product_of(args.x, w, output(args.y, args.bias, false)), args.begins.as<const int32_t>(), int(args.w.size()), distance_of(args.w), 0};
  g.all.b.aligned = g.all.b.aligned && g.matrix_stride % 8 == 0;
  if constexpr (::hone::cuda::kSm90Built) {
    if (uses_wgmma(w.n, w.k)) return multiply_experts_sm90(stream, g, w.transposed);
  }
  const int64_t each = ceil_div(g.all.rows, g.experts);
  if (each <= Tile16::kRows) return launch_tiles<Tile16>(stream, g, w.transposed);
  if (each <= Tile64::kRows) return launch_tiles<Tile64>(stream, g, w.transposed);
  launch_tiles<Tile128>(stream, g, w.transposed);
}

void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args) {
  const int64_t E = args.begins.dim(0) - 1, N = args.dy.dim(1), K = args.x.dim(1);
  const ExpertSums g{{operand(args.dy), operand(args.x), output(args.dw, {}, true), N, K, 0, 1, false},
                     args.begins.as<const int32_t>(), args.rows.as<const int32_t>(), int(E), args.first_row, args.last_row};
  if constexpr (::hone::cuda::kSm90Built) {
    if (uses_wgmma(N, K)) return sum_experts_sm90(stream, g);
  }
  const dim3 grid(unsigned(ceil_div(K, Tile128::kColumns)), unsigned(ceil_div(N, Tile128::kRows)), unsigned(E));
  HONE_LAUNCH((experts_grad_weight_kernel<Tile128>), grid, Tile128::kThreads, kSharedBytes<Tile128>, stream, g);
}

}  // namespace hone::kernels::cuda
