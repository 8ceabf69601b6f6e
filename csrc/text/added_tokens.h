// Added tokens, which are found in a text before it is normalized and split.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/id_map.h"

namespace hone::text {

struct AddedToken {
  int32_t id;
  std::string content;
  bool single_word;  // matches only if no word character is next to it
  bool lstrip;       // a match includes the white space before it
  bool rstrip;       // a match includes the white space behind it
  bool normalized;   // content is itself normalized, and looked for in normalized text
  bool special;
};

/// A range of a text: an added token, or ordinary text if token == nullptr.
struct Stretch {
  const AddedToken* token;
  std::string_view text;
};

/// Finds added tokens in a text: the leftmost first, and the longest of those that start at the same place.
/// Time O(n) for a given set of tokens.
/// Source: AddedVocabulary of Hugging Face tokenizers.
class TokenFinder {
 public:
  /// `spelling`: the text to look for; must not be empty. Keeps the pointer `token`.
  void add(const AddedToken* token, std::string_view spelling);

  /// Appends the stretches of a text in order. With spell_special, special tokens count as ordinary text.
  void split(std::string_view text, bool spell_special, std::vector<Stretch>& out) const;

 private:
  const AddedToken* longest(std::string_view text, size_t at, size_t& end) const;

  bool first_[256] = {};
  IdMap<int32_t> edges_;                           // (node, byte) -> node
  std::vector<const AddedToken*> ends_{nullptr};  // by node; node 0 is the root
};

}  // namespace hone::text
