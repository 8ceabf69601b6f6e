// Checks of the buffers that are passed to a collective, for every transport. All functions throw kShape.
#pragma once

#include "core/tensor.h"

namespace hone::dist {

/// The view is contiguous and, unless it is empty, has memory.
void expect_buffer(const char* what, const TensorView& view);
/// `root` is one of `size` ranks.
void expect_root(const char* what, int root, int size);
/// `larger` has one part of `smaller`'s size for each rank.
void expect_parts(const char* what, const TensorView& larger, const TensorView& smaller, int size);
/// `source` and `destination` each have one part for each rank.
void expect_exchange(const char* what, const TensorView& source, const TensorView& destination, int size);
/// `team` is at least 1 and divides `size`.
void expect_team(const char* what, int team, int size);

}  // namespace hone::dist
