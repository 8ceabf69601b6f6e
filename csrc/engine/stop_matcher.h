// Stop strings over the bytes of sampled tokens; a match may span tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::engine {

/// Finds the first occurrence of any of a request's stop strings, one token's bytes at a time, in
/// O(bytes x strings) and without keeping the bytes. Immutable; each sequence has its own State.
/// Source: Knuth, Morris & Pratt 1977.
class StopMatcher {
 public:
  /// Matched prefix length of each stop string.
  using State = std::vector<int32_t>;

  StopMatcher() = default;
  /// Strings are trusted to be non-empty.
  explicit StopMatcher(std::vector<std::string> strings);

  bool empty() const { return strings_.empty(); }
  State start() const { return State(strings_.size(), 0); }
  /// True once any string has occurred in the bytes seen so far.
  bool advance(State& state, std::string_view bytes) const;

 private:
  std::vector<std::string> strings_;
  std::vector<std::vector<int32_t>> borders_;  // [string][n]: longest proper border of its first n + 1 bytes
};

}  // namespace hone::engine
