// Names and ids of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/json.h"

namespace hone::text {

/// Reads a token id. Throws kFormat if it is negative or larger than any vocabulary's.
int32_t token_id(const Json& json, const std::string& where);

/// A one-to-one map between tokens' names and ids; ids may have gaps.
class Vocabulary {
 public:
  /// Adds a token; adding it twice is allowed. Throws kFormat naming `where` if the token already has another
  /// id, or the id belongs to another token.
  void enter(int32_t id, const std::string& name, const std::string& where);
  /// Sets the name that name(id) returns; id_of() still finds the token by its old name.
  void rename(int32_t id, std::string name) { names_[size_t(id)] = std::move(name); }

  /// One more than the greatest id.
  size_t size() const { return names_.size(); }
  /// The token's name, for `id` in [0, size()); empty if no token has the id.
  const std::string& name(int32_t id) const { return names_[size_t(id)]; }
  /// The token's id, or -1 if there is no token of that name.
  int32_t id_of(const std::string& name) const;
  /// Every token and its id, in arbitrary order.
  const std::unordered_map<std::string, int32_t>& ids() const { return ids_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace hone::text
