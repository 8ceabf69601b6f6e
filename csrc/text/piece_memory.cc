#include "text/piece_memory.h"

namespace hone::text {

bool PieceMemory::recall(std::string_view piece, std::vector<int32_t>& out) const {
  if (piece.size() > kMostBytes) return false;
  const auto known = ranges_.find(piece);
  if (known == ranges_.end()) return false;
  const auto [first, last] = known->second;
  out.insert(out.end(), ids_.begin() + first, ids_.begin() + last);
  return true;
}

void PieceMemory::remember(std::string_view piece, const int32_t* ids, size_t count) {
  if (piece.size() > kMostBytes) return;
  if (ids_.size() + count > kMostIds) {
    ids_.clear();
    ranges_.clear();
  }
  const uint32_t first = uint32_t(ids_.size());
  ids_.insert(ids_.end(), ids, ids + count);
  ranges_.emplace(piece, std::pair(first, uint32_t(ids_.size())));
}

}  // namespace hone::text
