// Shared memory that a launch may use.
#pragma once

#include <cstddef>

namespace hone::cuda {

/// Shared memory, static and dynamic together, that a block may use without opting in to more.
inline constexpr size_t kPlainSharedBytes = 48 * 1024;

constexpr bool exceeds_plain_shared(size_t fixed, size_t dynamic) { return fixed + dynamic > kPlainSharedBytes; }

}  // namespace hone::cuda
