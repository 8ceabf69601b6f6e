// Products with one matrix per expert on Hopper, by the ring of any other product (matmul_ring_sm90.cuh). Every block
// first counts the tiles of each expert, in shared memory: the host does not know how many pairs an expert has.
#include <algorithm>

#include "kernels/cuda/experts_product.cuh"
#include "kernels/cuda/matmul_ring_sm90.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/experts.h"

namespace hone::kernels::cuda {
namespace {

// Tile sizes are chosen by calculation, not yet by measurement. Few: two blocks of 96 KB per multiprocessor. Walk: k in pieces.
using Few = HopperTile<1, 128, 4, false>;
using FewWalk = HopperTile<1, 128, 4, true>;
using Many = HopperTile<2, 256, 4, false>;
using ManyWalk = HopperTile<2, 128, 6, true>;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// In shared memory: each expert's pairs that are multiplied, and how many units of work (tiles, or rows of tiles) lower
/// experts have.
struct ExpertTable {
  int first[kMostCudaExperts], last[kMostCudaExperts];  // pairs [first, last)
  uint32_t before[kMostCudaExperts + 1];

  /// Run by a whole block. pairs(e): the pairs of an expert, a Range; units(n): the units of work of n pairs.
  template <class Pairs, class Units>
  __device__ __forceinline__ void fill(int experts, const Pairs& pairs, const Units& units) {
    for (int e = int(threadIdx.x); e < experts; e += int(blockDim.x)) {
      const Range range = pairs(e);
      first[e] = int(range.begin), last[e] = int(range.end);
      before[e + 1] = units(last[e] - first[e]);
    }
    __syncthreads();
    if (threadIdx.x < 32) add_up(experts);
    __syncthreads();
  }
  /// The expert that has unit `index` of before[experts].
  __device__ __forceinline__ int expert_of(int experts, uint32_t index) const {
    int low = 0, high = experts - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (before[middle + 1] <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

 private:
  /// Run by a warp: turns before[e + 1] from the units of expert e into those of all experts up to e.
  __device__ __forceinline__ void add_up(int experts) {
    const int lane = int(threadIdx.x);
    uint32_t total = 0;
    if (lane == 0) before[0] = 0;
    for (int base = 0; base < experts; base += 32) {
      const int e = base + lane;
      const uint32_t through = total + sum_up_to_lane(e < experts ? before[e + 1] : 0);
      if (e < experts) before[e + 1] = through;
      total = __shfl_sync(kFullWarp, through, 31);
    }
  }
};

/// Tiles of y. The table counts rows of tiles, each of which has all columns.
template <class T>
struct LinearTiles {
  static constexpr bool kManyMatrices = true;
  const ExpertProducts& g;
  const ExpertTable& table;

  __device__ __forceinline__ const Product& product() const { return g.all; }
  __device__ __forceinline__ int64_t count() const { return int64_t(table.before[g.experts]) * g.tiles_across; }
  __device__ __forceinline__ TileWork at(int64_t index) const {
    const uint32_t down = uint32_t(index) / g.tiles_across, across = uint32_t(index) % g.tiles_across;
    const int e = table.expert_of(g.experts, down);
    const int row = table.first[e] + int(down - table.before[e]) * T::kRows;
    const float* const bias = g.all.out.bias ? g.all.out.bias + e * g.all.columns : nullptr;
    return {row, int64_t(across) * T::kColumns, table.last[e], {0, g.all.depth}, row, e, bias};
  }
};

/// Tiles of dW of the experts that have pairs, which the table counts.
template <class T>
struct GradientTiles {
  static constexpr bool kManyMatrices = false;
  const ExpertSums& g;
  const ExpertTable& table;

  __device__ __forceinline__ uint32_t across() const { return uint32_t(ceil_div(g.all.columns, T::kColumns)); }
  __device__ __forceinline__ uint32_t down() const { return uint32_t(ceil_div(g.all.rows, T::kRows)); }
  __device__ __forceinline__ const Product& product() const { return g.all; }
  __device__ __forceinline__ int64_t count() const { return table.before[g.experts]; }
  __device__ __forceinline__ TileWork at(int64_t index) const {
    const int e = table.expert_of(g.experts, uint32_t(index));
    const uint32_t tile = uint32_t(index) - table.before[e];
    const int line = int(tile % down()) * T::kRows;
    const int64_t matrix = e * g.all.rows;
    return {matrix + line, int64_t(tile / down()) * T::kColumns, matrix + g.all.rows, {table.first[e], table.last[e]}, line, 0, nullptr};
  }
};

#endif

template <class T, Inside kB>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerProcessor)
    experts_linear_sm90_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, ExpertProducts g) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ ExpertTable table;
  table.fill(g.experts, [&](int e) { return Range{g.begins[e], g.begins[e + 1]}; }, [](int pairs) { return uint32_t(pairs + T::kRows - 1) / T::kRows; });
  compute_tiles<T, Inside::kDepth, kB, false>(a, b, LinearTiles<T>{g, table});
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerProcessor)
    experts_grad_weight_sm90_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, ExpertSums g) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ ExpertTable table;
  const GradientTiles<T> tiles{g, table};
  table.fill(g.experts, [&](int e) { return g.pairs_of(e); }, [&](int pairs) { return pairs > 0 ? tiles.down() * tiles.across() : 0; });
  // masked, because an expert's last stage may reach into the next expert's pairs
  compute_tiles<T, Inside::kLines, Inside::kLines, true>(a, b, tiles);
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

/// Map of all experts' matrices.
CUtensorMap matrices_map(const ExpertProducts& g, uint32_t box_rows) {
  const Operand& b = g.all.b;
  if (!b.aligned) {
    fail(Code::kShape, "experts_linear: on Hopper the rows of an expert's matrix must start at 16 bytes; here matrices are %lld elements apart.", (long long)g.matrix_stride);
  }
  const int64_t distance = g.experts > 1 ? g.matrix_stride : b.height * b.stride;
  return tensor_map(MappedMatrix<__nv_bfloat16>{b.data, b.height, b.width, b.stride, g.experts, distance}, box_rows, "the experts' matrices");
}

/// Blocks for at most `tiles` tiles.
template <class T>
unsigned blocks_of_tiles(int64_t tiles, const char* op) {
  if (tiles > int64_t(kMostLines)) fail(Code::kShape, "%s: %lld tiles; a kernel counts at most 2^31 - 1.", op, (long long)tiles);
  return unsigned(std::min<int64_t>(tiles, resident_blocks<T>()));
}

void expect_few_experts(int experts, const char* op) {
  if (experts > kMostCudaExperts) fail(Code::kUnsupported, "%s: %d experts; the CUDA kernels take at most %lld.", op, experts, (long long)kMostCudaExperts);
}

template <class T, Inside kB>
void launch_linear(const Stream& stream, ExpertProducts g) {
  g.tiles_across = uint32_t(ceil_div(g.all.columns, T::kColumns));
  const unsigned blocks = blocks_of_tiles<T>(g.most_tiles_down(T::kRows) * g.tiles_across, "experts_linear");
  const CUtensorMap a = operand_map(g.all.a, T::kRows, "x"), b = matrices_map(g, kB == Inside::kDepth ? T::kColumns : 64);
  HONE_LAUNCH((experts_linear_sm90_kernel<T, kB>), blocks, T::kThreads, kRingBytes<T>, stream, a, b, g);
}

}  // namespace

void multiply_experts_sm90(const Stream& stream, ExpertProducts g, bool transposed) {
  constexpr Inside kDepth = Inside::kDepth, kLines = Inside::kLines;
  if (g.all.rows == 0) return;
  expect_few_experts(g.experts, "experts_linear");
  const bool few = ceil_div(g.all.rows, g.experts) <= Few::kRows;
  if (transposed) return few ? launch_linear<Few, kLines>(stream, g) : launch_linear<Many, kLines>(stream, g);
  if (g.all.pieces > 1) return few ? launch_linear<FewWalk, kDepth>(stream, g) : launch_linear<ManyWalk, kDepth>(stream, g);
  few ? launch_linear<Few, kDepth>(stream, g) : launch_linear<Many, kDepth>(stream, g);
}

void sum_experts_sm90(const Stream& stream, const ExpertSums& g) {
  if (g.all.a.height == 0) return;
  expect_few_experts(g.experts, "experts_grad_weight");
  const int64_t tiles = ceil_div(g.all.rows, Many::kRows) * ceil_div(g.all.columns, Many::kColumns) * g.experts;
  const unsigned blocks = blocks_of_tiles<Many>(tiles, "experts_grad_weight");
  const CUtensorMap a = operand_map(g.all.a, 64, "dy"), b = operand_map(g.all.b, 64, "x");
  HONE_LAUNCH((experts_grad_weight_sm90_kernel<Many>), blocks, Many::kThreads, kRingBytes<Many>, stream, a, b, g);
}

}  // namespace hone::kernels::cuda
