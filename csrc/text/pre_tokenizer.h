// Splits normalized text into the pieces that are encoded one by one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/pre_tokenizer_rules.h"

namespace hone::text {

/// Applies the steps of its rules in sequence.
class PreTokenizer {
 public:
  /// Without a step, a text is one piece.
  PreTokenizer() = default;
  explicit PreTokenizer(PreTokenizerRules rules) : rules_(std::move(rules)) {}

  /// Pieces are bytes and the vocabulary spells bytes (ByteLevel).
  bool byte_level() const { return rules_.byte_level; }

  /// The pieces of a text, none empty; views of `text` or of `scratch`, which is overwritten. `first`: the text
  /// starts where the whole input starts.
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
