// The matrices B of experts' adapters, turned round and sorted by expert, and back. A block turns a square round in
// shared memory, so that both reads and writes are of neighbours.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kSide = 32, kThreads = 256, kStep = kThreads / kSide;

template <class T>
struct Turning {
  float* columns;  // [height, width]
  int64_t stride;
  T* rows;         // [width, height]
  int height, width, experts;

  /// The row that holds a column: those of an expert lie together.
  __device__ __forceinline__ T* row_of(int column) const {
    const int rank = width / experts;
    return rows + int64_t(column % experts * rank + column / experts) * height;
  }
};

__global__ void __launch_bounds__(kThreads) turn_columns_kernel(Turning<bf16> a) {
  __shared__ float square[kSide][kSide + 1];
  const int inside = int(threadIdx.x) % kSide, first = int(threadIdx.x) / kSide;
  const int row = int(blockIdx.y) * kSide, column = int(blockIdx.x) * kSide;
  for (int i = first; i < kSide; i += kStep) {
    if (row + i < a.height && column + inside < a.width) square[i][inside] = a.columns[(row + i) * a.stride + column + inside];
  }
  __syncthreads();
  for (int i = first; i < kSide; i += kStep) {
    if (column + i < a.width && row + inside < a.height) round_to(a.row_of(column + i)[row + inside], square[inside][i]);
  }
}

__global__ void __launch_bounds__(kThreads) add_columns_of_experts_kernel(Turning<float> a) {
  __shared__ float square[kSide][kSide + 1];
  const int inside = int(threadIdx.x) % kSide, first = int(threadIdx.x) / kSide;
  const int row = int(blockIdx.y) * kSide, column = int(blockIdx.x) * kSide;
  for (int i = first; i < kSide; i += kStep) {
    if (column + i < a.width && row + inside < a.height) square[i][inside] = a.row_of(column + i)[row + inside];
  }
  __syncthreads();
  for (int i = first; i < kSide; i += kStep) {
    if (row + i < a.height && column + inside < a.width) a.columns[(row + i) * a.stride + column + inside] += square[inside][i];
  }
}

template <class T>
Turning<T> turning(const ExpertColumnsArgs& a) {
  return {a.columns.as<float>(), a.columns.row_stride, a.rows.as<T>(), int(a.columns.dim(0)), int(a.columns.dim(1)), int(a.experts)};
}

dim3 squares(const ExpertColumnsArgs& a) { return {blocks_for(a.columns.dim(1), kSide), blocks_for(a.columns.dim(0), kSide)}; }

}  // namespace

void turn_expert_columns(const Stream& stream, const ExpertColumnsArgs& args) {
  HONE_LAUNCH(turn_columns_kernel, squares(args), kThreads, 0, stream, turning<bf16>(args));
}

void add_expert_columns(const Stream& stream, const ExpertColumnsArgs& args) {
  HONE_LAUNCH(add_columns_of_experts_kernel, squares(args), kThreads, 0, stream, turning<float>(args));
}

}  // namespace hone::kernels::cuda
