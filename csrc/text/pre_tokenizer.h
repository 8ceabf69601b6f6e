// Splits normalized text into the pieces that are encoded one by one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/pre_tokenizer_rules.h"

namespace hone::text {

/// Applies the steps of PreTokenizerRules in sequence.
class PreTokenizer {
 public:
  /// Has no steps: a text is one piece.
  PreTokenizer() = default;
  explicit PreTokenizer(PreTokenizerRules rules) : rules_(std::move(rules)) {}

  /// True if pieces are bytes in the alphabet of ByteLevel.
  bool byte_level() const { return rules_.byte_level; }

  /// Splits a text into pieces, none empty; they are views of `text` or of `scratch`, which is overwritten.
  /// `first`: the text is at the start of the whole input.
  void split(std::string_view text, bool first, std::string& scratch, std::vector<std::string_view>& pieces) const;

 private:
  using Behavior = PreTokenizerRules::Behavior;
  using Step = PreTokenizerRules::Step;
  struct Match {
    size_t begin, end;
  };
  static void cut(std::string_view text, const std::vector<Match>& matches, Behavior behavior,
                  std::vector<std::string_view>& pieces);
  static void isolate(Scan scan, std::string_view text, bool gaps, std::vector<std::string_view>& pieces);
  static void find(const Step& step, std::string_view text, std::vector<Match>& matches);
  static void rewrite(const Step& step, bool first, std::string& scratch, std::vector<std::string_view>& pieces);

  PreTokenizerRules rules_;
};

}  // namespace hone::text
