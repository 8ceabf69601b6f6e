// Token embedding on a GPU, and its gradient without atomics: one block per distinct id and range of columns.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kColumns = kThreads * 8;

template <class T>
__global__ void __launch_bounds__(kThreads) embedding_kernel(const int32_t* ids, const T* table, int64_t table_stride,
                                                             bf16* x, int64_t x_stride, int64_t items, int width,
                                                             bool wide) {
  await_predecessor();
  const Item item((width + 7) / 8);
  if (item.index >= items) return;
  const int64_t t = item.row, c = int64_t(item.piece) * 8;
  store_eight(x + t * x_stride + c, load_eight(table + ids[t] * table_stride + c, width - c, wide), width - c, wide);
}

struct Scatter {
  const int32_t* ids;
  int64_t tokens;
  const bf16* dx;
  int64_t dx_stride;
  float* dtable;
  int64_t table_stride;
  int width;
  bool wide;
};

/// If t is the first token of its id, the block of t adds dx of every token of that id, in ascending order.
__global__ void __launch_bounds__(kThreads) embedding_grad_kernel(Scatter a) {
  __shared__ unsigned equal[kThreads / 32];  // bit mask: which of the next 256 tokens have the id
  const int64_t t = blockIdx.x;
  const int32_t id = a.ids[t];
  const int c = blockIdx.y * kColumns + threadIdx.x * 8, left = a.width - c;
  float* row = a.dtable + id * a.table_stride + c;
  Eight sum = load_eight(row, left, a.wide);
  for (int64_t base = 0; base < a.tokens; base += kThreads) {
    const int64_t mine = base + threadIdx.x;
    const unsigned votes = __ballot_sync(0xffffffffu, mine < a.tokens && a.ids[mine] == id);
    if (threadIdx.x % 32 == 0) equal[threadIdx.x / 32] = votes;
    __syncthreads();
    for (int w = 0; w < kThreads / 32; ++w) {
      for (unsigned rest = equal[w]; rest; rest &= rest - 1) {
        const int64_t s = base + w * 32 + __ffs(int(rest)) - 1;
        if (s < t) return;  // token s is the first one of this id, so its block adds them
        const Eight d = load_eight(a.dx + s * a.dx_stride + c, left, a.wide);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.at[i] += d.at[i];
      }
    }
    __syncthreads();
  }
  store_eight(row, sum, left, a.wide);
}

template <class T>
void gather(const Stream& stream, const EmbeddingArgs& args) {
  const int64_t tokens = args.ids.dim(0), width = args.table.dim(1), items = tokens * ((width + 7) / 8);
  HONE_LAUNCH_EARLY(embedding_kernel<T>, blocks_for(items, kThreads), kThreads, 0, stream, args.ids.as<const int32_t>(),
              args.table.as<const T>(), args.table.row_stride, args.x.as<bf16>(), args.x.row_stride, items, int(width),
              is_wide(args.table) && is_wide(args.x));
}

}  // namespace

void embedding(const Stream& stream, const EmbeddingArgs& args) {
  if (args.table.dtype == DType::kBF16) gather<bf16>(stream, args);
  else gather<float>(stream, args);
}

void embedding_grad(const Stream& stream, const EmbeddingGradArgs& args) {
  const int64_t tokens = args.ids.dim(0), width = args.dtable.dim(1);
  const Scatter a{args.ids.as<const int32_t>(), tokens, args.dx.as<const bf16>(), args.dx.row_stride,
                  args.dtable.as<float>(), args.dtable.row_stride, int(width), is_wide(args.dx) && is_wide(args.dtable)};
  const dim3 grid(unsigned(tokens), unsigned((width + kColumns - 1) / kColumns));
  HONE_LAUNCH(embedding_grad_kernel, grid, kThreads, 0, stream, a);
}

}  // namespace hone::kernels::cuda
