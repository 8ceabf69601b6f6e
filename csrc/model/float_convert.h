// Converts between the float types in which files store weights.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace hone::model {

/// True for f32, bf16, f16 and f64, the types from which weights are read.
bool is_weight_float(DType dtype);

/// to[i] = from[i], rounded once to nearest even; NaN stays NaN, infinities stay. Both may be unaligned, and may
/// not overlap. `from_type` is a weight float; `to_type` is f32, bf16 or f16.
/// Returns the index of the first finite number that is too large for `to_type` and became infinite, or -1.
/// Source: IEEE 754-2019, binary16, roundTiesToEven.
int64_t convert_floats(const void* from, DType from_type, void* to, DType to_type, int64_t n);

}  // namespace hone::model
