// A tokenizer.json's rules for splitting text into pieces.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "text/scanner.h"

namespace hone::text {

/// Split, Digits, Metaspace and ByteLevel, in the order in which they are applied.
struct PreTokenizerRules {
  /// What a step does with its matches and with the gaps between them.
  enum class Behavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
  struct Step {
    enum class Kind { kScan, kLiteral, kDigits, kMetaspace, kPrefixSpace } kind;
    Scan scan = nullptr;
    std::string literal{};  // text to split at; for Metaspace, the replacement of a space
    Behavior behavior = Behavior::kIsolated;
    enum class Prepend { kAlways, kFirst, kNever } prepend = Prepend::kNever;
  };

  std::vector<Step> steps;
  bool byte_level = false;

  /// Reads the "pre_tokenizer" of a tokenizer.json; null has no steps. Throws kUnsupported naming a type,
  /// field or pattern that is not known, kFormat naming a field that is missing.
  static PreTokenizerRules from_json(const Json& json, const std::string& where);
};

}  // namespace hone::text
