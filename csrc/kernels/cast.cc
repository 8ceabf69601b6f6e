#include "kernels/cast.h"

#include "kernels/cpu/cast.h"
#include "kernels/cuda/cast.h"

namespace hone::kernels {

void cast(const Stream& stream, const CastArgs& args) {
  const int64_t rows = args.from.dim(0), width = args.from.dim(1);
  for (const TensorView* view : {&args.from, &args.to}) {
    if (view->dtype == DType::kF32 || view->dtype == DType::kBF16) continue;
    fail(Code::kShape, "cast: %s; f32 and bf16 are cast into one another.", dtype_name(view->dtype));
  }
  expect(args.from, args.from.dtype, {rows, width}, "cast", "from");
  expect(args.to, args.to.dtype, {rows, width}, "cast", "to");
  if (rows == 0 || width == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::cast(stream, args);
  }
  cpu::cast(stream, args);
}

}  // namespace hone::kernels
