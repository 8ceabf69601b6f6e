// The unfinished groups (requests with their sequences), by submission order, by request id, and by the
// weight versions that their plans need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/sequence.h"

namespace hone::engine {

/// Owns every submitted group until its last sequence has ended.
class GroupTable {
 public:
  /// Stores a request and numbers it in order of submission. Its id must not be in use.
  Group& add(Request request, int32_t page_tokens, const std::vector<std::string>& token_bytes = {});
  void erase(Group& group);
  /// Returns null for an unknown id.
  Group* find(uint64_t request) const;
  const std::vector<std::unique_ptr<Group>>& all() const { return groups_; }

  /// True if any group has a plan of versions.
  bool any_planned() const { return planned_ > 0; }
  /// Oldest version that the next token of any unfinished planned sequence needs.
  std::optional<uint32_t> oldest_needed_version() const;
  /// True if any sequence or prompt could continue with weights of `version`.
  bool runnable(uint32_t version) const;

 private:
  uint64_t submitted_ = 0;
  int64_t planned_ = 0;
  std::vector<std::unique_ptr<Group>> groups_;  // in submission order
  std::unordered_map<uint64_t, Group*> by_id_;
};

}  // namespace hone::engine
