// A hash map keyed by text; looking up a string_view copies nothing.
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
