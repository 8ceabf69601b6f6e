// The ids of pieces that were encoded before.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "text/by_text.h"

namespace hone::text {

/// Remembers short pieces. Its size is bounded: when it is full, it forgets everything.
class PieceMemory {
 public:
  /// Longer pieces are rare and seldom come back.
  static constexpr size_t kMostBytes = 48;
  /// Ids of all pieces together.
  static constexpr size_t kMostIds = size_t(1) << 20;

  /// Appends the ids of a piece; false if it is not remembered.
  bool recall(std::string_view piece, std::vector<int32_t>& out) const;
  /// `piece` must be new. Does nothing if it has more than kMostBytes bytes.
  void remember(std::string_view piece, const int32_t* ids, size_t count);

 private:
  ByText<std::pair<uint32_t, uint32_t>> ranges_;  // piece -> [first, last) in ids_
  std::vector<int32_t> ids_;
};

}  // namespace hone::text
