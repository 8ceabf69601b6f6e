// Names and ids of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/json.h"

namespace hone::text {

/// An id as a file has it. Throws kFormat if it is negative or no vocabulary is that large.
int32_t token_id(const Json& json, const std::string& where);

/// A bijection of tokens and ids; ids may have gaps.
class Vocabulary {
 public:
  /// Entering the same token twice is allowed. Throws kFormat naming `where` if it has another id, or its id another
  /// token.
  void enter(int32_t id, const std::string& name, const std::string& where);
  /// Sets what name() returns from now on; the token is still found by its old name.
  void rename(int32_t id, std::string name) { names_[size_t(id)] = std::move(name); }

  /// One more than the greatest id.
  size_t size() const { return names_.size(); }
  /// `id` lies in [0, size()); empty for a hole.
  const std::string& name(int32_t id) const { return names_[size_t(id)]; }
  /// -1 if there is no such token.
  int32_t id_of(const std::string& name) const;
  /// Every token and its id, in arbitrary order.
  const std::unordered_map<std::string, int32_t>& ids() const { return ids_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace hone::text
