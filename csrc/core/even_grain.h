// Chunk sizes that leave no thread idle at the end of a parallel loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/stream.h"

namespace hone {

/// The smallest chunk of at least `grain` units that gives every thread the same number of chunks: with two
/// threads, three chunks take as long as four. Returns `grain` itself if each thread gets eight chunks or
/// more, since one chunk more or less then matters little.
inline int64_t even_grain(const Stream& stream, int64_t n, int64_t grain) {
  constexpr int64_t kMany = 8;
  grain = std::max<int64_t>(1, grain);
  const int64_t threads = stream.threads(), chunks = std::max<int64_t>(1, n / grain);
  if (chunks >= kMany * threads) return grain;
  const auto cut = [n](int64_t size) { return (n + size - 1) / size; };
  for (int64_t each = chunks / threads; each > 1; --each) {
    const int64_t even = cut(each * threads);
    if (cut(even) % threads == 0) return even;
  }
  return cut(std::min(chunks, threads));
}

}  // namespace hone
