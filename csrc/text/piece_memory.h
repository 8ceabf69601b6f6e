// A cache of the ids of pieces that were encoded before.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "text/by_text.h"

namespace hone::text {

/// Caches the ids of short pieces. When the cache is full, it is emptied.
class PieceMemory {
 public:
  /// Longest piece that is cached; longer pieces are rare and seldom recur.
  static constexpr size_t kMostBytes = 48;
  /// Limit of the number of ids, over all pieces.
  static constexpr size_t kMostIds = size_t(1) << 20;

  /// Appends the ids of a piece; returns false if the piece is not cached.
  bool recall(std::string_view piece, std::vector<int32_t>& out) const;
  /// Caches a piece, which must not be cached yet. Does nothing if it has more than kMostBytes bytes.
  void remember(std::string_view piece, const int32_t* ids, size_t count);

 private:
  ByText<std::pair<uint32_t, uint32_t>> ranges_;  // piece -> [first, last) in ids_
  std::vector<int32_t> ids_;
};

}  // namespace hone::text
