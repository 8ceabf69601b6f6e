// Converts values from one floating type to another, row by row.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// to[r, c] = from[r, c]; f32 to bf16 rounds to nearest even, NaN stays NaN. R rows of width C.
/// Throws kShape for other types than f32 and bf16.
struct CastArgs {
  TensorView from;  // [R, C] f32 or bf16 in, strided rows
  TensorView to;    // [R, C] f32 or bf16 out, strided rows
};
void cast(const Stream& stream, const CastArgs& args);

}  // namespace hone::kernels
