// Finds stop strings in the bytes of sampled tokens; a match may span tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::engine {

/// Finds the first occurrence of any of a request's stop strings, given one token's bytes at a time, in time
/// O(bytes x strings) and without storing the bytes. Immutable; each sequence has its own State. Source:
/// Knuth, Morris & Pratt 1977.
class StopMatcher {
 public:
  /// For each stop string the length of its prefix that the bytes so far end with.
  using State = std::vector<int32_t>;

  StopMatcher() = default;
  /// Strings must not be empty (not checked).
  explicit StopMatcher(std::vector<std::string> strings);

  bool empty() const { return strings_.empty(); }
  State start() const { return State(strings_.size(), 0); }
  /// Processes bytes; returns true once any stop string has occurred.
  bool advance(State& state, std::string_view bytes) const;

 private:
  std::vector<std::string> strings_;
  // [string][n]: length of the longest proper border of the string's first n + 1 bytes
  std::vector<std::vector<int32_t>> borders_;
};

}  // namespace hone::engine
