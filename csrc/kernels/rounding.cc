#include "kernels/rounding.h"

#include "kernels/cpu/rows.h"

namespace hone::kernels {

void round_to_bf16(const Stream& stream, const TensorView& x) {
  if (x.dtype != DType::kF32 || x.rank < 2) {
    fail(Code::kShape, "round_to_bf16: x is %s of rank %d, expected rows of f32.", dtype_name(x.dtype), x.rank);
  }
  if (x.numel() > 0) cpu::round_to_bf16(stream, x);
}

}  // namespace hone::kernels
