// y = a x + b y on a GPU: each thread handles eight consecutive elements of a row.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct Sum {
  const bf16* x;
  bf16* y;
  int64_t x_stride, y_stride, width, pieces, items;  // pieces: vectors per row
  float a, b;
  bool wide;
};

__global__ void __launch_bounds__(kThreads) axpby_kernel(Sum s) {
  const Item item(s.pieces);
  if (item.index >= s.items) return;
  const int64_t r = item.row, c = int64_t(item.piece) * 8, left = s.width - c;
  bf16* const to = s.y + r * s.y_stride + c;
  Eight v = load_eight(s.x + r * s.x_stride + c, left, s.wide);
  const Eight old = s.b != 0.0f ? load_eight(to, left, s.wide) : Eight{};
#pragma unroll
  for (int i = 0; i < 8; ++i) v.at[i] = fmaf(old.at[i], s.b, v.at[i] * s.a);
  store_eight(to, v, left, s.wide);
}

}  // namespace

void axpby(const Stream& stream, const AxpbyArgs& args) {
  const int64_t width = args.x.dim(1), pieces = (width + 7) / 8;
  const Sum s{args.x.as<const bf16>(), args.y.as<bf16>(), args.x.row_stride, args.y.row_stride, width, pieces,
              args.x.dim(0) * pieces, args.a, args.b, width % 8 == 0 && is_wide(args.x) && is_wide(args.y)};
  HONE_LAUNCH(axpby_kernel, blocks_for(s.items, kThreads), kThreads, 0, stream, s);
}

}  // namespace hone::kernels::cuda
