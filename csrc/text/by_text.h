// A hash map by text that finds a view without copying it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hone::text {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

template <class T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

}  // namespace hone::text
