// Sums and maxima over what ranks sent, on the host.
#pragma once

#include <vector>

#include "dist/communicator.h"

namespace hone::dist {

/// Throws kShape for a dtype that is only passed on.
void expect_reducible(const char* what, DType dtype);

/// out[i] = parts[0][i] op parts[1][i] op ..., in this order regardless of arrival: the same bits every time. parts:
/// one of n elements per rank · f32, f64 and integers in their own arithmetic, bf16 in f32 and rounded once · `out` may
/// be one of them · a maximum takes the later of two values that do not compare (NaN only if it comes last).
void reduce(DType dtype, ReduceOp op, const std::vector<const void*>& parts, int64_t n, void* out);

}  // namespace hone::dist
