#include "core/cuda/launch.cuh"
#include "kernels/cuda/cast.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

template <class From, class To>
__global__ void __launch_bounds__(kThreads) cast_kernel(const From* from, int64_t from_stride, To* to,
                                                        int64_t to_stride, int64_t width, int64_t items, bool wide) {
  const Item item((width + 7) / 8);
  if (item.index >= items) return;
  const int64_t r = item.row, c = int64_t(item.piece) * 8;
  store_eight(to + r * to_stride + c, load_eight(from + r * from_stride + c, width - c, wide), width - c, wide);
}

template <class From, class To>
void rows(const Stream& stream, const CastArgs& a) {
  const int64_t width = a.from.dim(1), items = a.from.dim(0) * ((width + 7) / 8);
  HONE_LAUNCH((cast_kernel<From, To>), blocks_for(items, kThreads), kThreads, 0, stream, a.from.as<const From>(),
              a.from.row_stride, a.to.as<To>(), a.to.row_stride, width, items, is_wide(a.from) && is_wide(a.to));
}

}  // namespace

void cast(const Stream& stream, const CastArgs& args) {
  const bool from_bf16 = args.from.dtype == DType::kBF16, to_bf16 = args.to.dtype == DType::kBF16;
  if (from_bf16) return to_bf16 ? rows<bf16, bf16>(stream, args) : rows<bf16, float>(stream, args);
  return to_bf16 ? rows<float, bf16>(stream, args) : rows<float, float>(stream, args);
}

}  // namespace hone::kernels::cuda
