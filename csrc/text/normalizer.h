// Normalization of ordinary text before it is split into pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace hone::text {

/// `text` with every occurrence of `from` replaced by `to`, left to right.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// The text of a pattern {"String": text}. Throws kUnsupported naming the pattern if it is {"Regex": ...}.
std::string literal_pattern(const Json& pattern, const std::string& where);

/// The normalizers NFC, Prepend and Replace, alone or in Sequences.
class Normalizer {
 public:
  /// Reads the "normalizer" of a tokenizer.json; null is none. Throws kUnsupported naming a type or field
  /// that is not known.
  static Normalizer from_json(const Json& json, const std::string& where);

  bool none() const { return steps_.empty(); }
  /// The normalized text; an empty text stays empty.
  std::string apply(std::string_view text) const;

 private:
  struct Step {
    enum class Kind { kNfc, kPrepend, kReplace } kind;
    std::string from, to;
  };
  void add(const Json& json, const std::string& where);

  std::vector<Step> steps_;
};

}  // namespace hone::text
