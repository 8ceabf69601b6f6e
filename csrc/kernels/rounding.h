// Rounds f32 values to those that bf16 can represent.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// x <- the bf16 nearest to x (ties to even), widened again; NaN stays NaN. In place.
///   x [R, C] or [R, K, D] f32 in/out, strided rows.
void round_to_bf16(const Stream& stream, const TensorView& x);

}  // namespace hone::kernels
