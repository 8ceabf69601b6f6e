#include "engine/stop_matcher.h"

#include <utility>

namespace hone::engine {
namespace {

int32_t extend(const std::string& pattern, const std::vector<int32_t>& borders, int32_t matched, char byte) {
  while (matched > 0 && pattern[size_t(matched)] != byte) matched = borders[size_t(matched) - 1];
  return pattern[size_t(matched)] == byte ? matched + 1 : 0;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> strings) : strings_(std::move(strings)) {
  for (const std::string& s : strings_) {
    std::vector<int32_t> borders(s.size(), 0);
    for (size_t i = 1; i < s.size(); ++i) borders[i] = extend(s, borders, borders[i - 1], s[i]);
    borders_.push_back(std::move(borders));
  }
}

bool StopMatcher::advance(State& state, std::string_view bytes) const {
  for (const char byte : bytes) {
    for (size_t s = 0; s < strings_.size(); ++s) {
      state[s] = extend(strings_[s], borders_[s], state[s], byte);
      if (state[s] == int32_t(strings_[s].size())) return true;
    }
  }
  return false;
}

}  // namespace hone::engine
