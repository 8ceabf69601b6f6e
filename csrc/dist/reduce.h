// Sums and maxima over the buffers that ranks sent, on the host.
#pragma once

#include <vector>

#include "dist/communicator.h"

namespace hone::dist {

/// Throws kShape for a dtype that no op computes with.
void expect_reducible(const char* what, DType dtype);

/// out[i] = parts[0][i] op parts[1][i] op ..., in this order regardless of arrival, so that the bits are the
/// same every time. Each rank has one part of n elements. f32, f64 and integers are reduced in their own
/// type; bf16 is reduced in f32 and rounded once. `out` may be one of the parts. A maximum takes the later of
/// two values that do not compare (NaN only if it comes last).
void reduce(DType dtype, ReduceOp op, const std::vector<const void*>& parts, int64_t n, void* out);

}  // namespace hone::dist
