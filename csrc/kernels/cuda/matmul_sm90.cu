// Matrix products on Hopper (matmul_ring_sm90.cuh). Pieces of k and their order are those of the portable kernels,
// but wgmma rounds differently, so a process uses only one of the two kinds of kernels (cuda::uses_wgmma).
#include <algorithm>

#include "kernels/cuda/matmul_ring_sm90.cuh"

namespace hone::kernels::cuda {
namespace {

// Tile sizes are chosen by calculation, not yet by measurement: 192 KB are loading at a time. Few rows have
// their own kernels (matmul_few_sm90.cu).
// many rows, k in pieces: 64 sums and 64 totals per thread; clusters of two blocks
using Walk = HopperTile<2, 128, 6, true, 2>;
using Many = HopperTile<2, 256, 4, false>;   // many rows, k in one piece: 128 sums per thread

template <class T>
HONE_HOST_DEVICE int64_t cluster_tiles(const Product& p) {
  return blocks_of(p.rows, p.columns, 1, false, T::kRows * T::kCluster, T::kColumns);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// The tiles of one product; the blocks of a cluster divide the rows of a taller tile.
template <class T>
struct ProductTiles {
  static constexpr bool kManyMatrices = false;
  const Product& p;

  __device__ __forceinline__ const Product& product() const { return p; }
  __device__ __forceinline__ int64_t count() const { return cluster_tiles<T>(p); }
  __device__ __forceinline__ TileWork at(int64_t index) const {
    const BlockWork work = work_of(index, p.rows, p.columns, p.pieces, false, T::kRows * T::kCluster, T::kColumns);
    const int64_t row = T::kCluster > 1 ? work.row + cluster_rank() * T::kRows : work.row;
    return {row, work.column, p.rows, {0, p.depth}, int(row), 0, p.out.bias};
  }
};

#endif

template <class T, Inside kA, Inside kB>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerProcessor)
    product_sm90_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Product p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  compute_tiles<T, kA, kB, false>(a, b, ProductTiles<T>{p});
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

template <class T, Inside kA, Inside kB>
void launch_sm90(const Stream& stream, const Product& p) {
  static_assert(T::kCluster == 1 || kB == Inside::kDepth, "a part of the right operand is a box");
  static_assert(!T::kWalk || T::kColumns <= 128, "sums and totals share 232 registers");
  const CUtensorMap a = operand_map(p.a, kA == Inside::kDepth ? T::kRows : 64, "the left operand");
  const CUtensorMap b = operand_map(p.b, kB == Inside::kDepth ? T::kColumns / T::kCluster : 64, "the right operand");
  const auto clusters = unsigned(std::min<int64_t>(cluster_tiles<T>(p), std::max(resident_blocks<T>() / T::kCluster, 1)));
  if constexpr (T::kCluster > 1) {
    HONE_LAUNCH_AS((::hone::cuda::Launch{T::kCluster}), (product_sm90_kernel<T, kA, kB>), clusters * T::kCluster, T::kThreads, kRingBytes<T>,
                         stream, a, b, p);
  } else {
    HONE_LAUNCH((product_sm90_kernel<T, kA, kB>), clusters, T::kThreads, kRingBytes<T>, stream, a, b, p);
  }
}

}  // namespace

bool device_is_sm90() {
  static const bool is = ::hone::cuda::device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
                         ::hone::cuda::device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
  return is;
}

void multiply_sm90(const Stream& stream, const Product& p, Inside a, Inside b) {
  constexpr Inside kDepth = Inside::kDepth, kLines = Inside::kLines;
  if (a == kLines) return launch_sm90<Many, kLines, kLines>(stream, p);
  if (b == kLines) return launch_sm90<Many, kDepth, kLines>(stream, p);
  if (p.pieces > 1) return launch_sm90<Walk, kDepth, kDepth>(stream, p);
  launch_sm90<Many, kDepth, kDepth>(stream, p);
}

}  // namespace hone::kernels::cuda
