// Compares merging with its definition: repeatedly merge the leftmost pair of the lowest rank. Faults put
// into the code: merges listed forwards; a remembered piece not appended; bytes pushed after the pending
// unknown token.
#include "text/bpe.h"

#include <algorithm>
#include <map>

#include "check.h"
#include "core/utf8.h"

namespace text_bpe_test {

using namespace hone;
using namespace hone::test;
using text::Bpe;
using text::BpeOptions;
using Merges = std::vector<std::pair<std::string, std::string>>;
using Tokens = std::vector<std::pair<std::string, int32_t>>;

namespace {

struct Vocabulary {
  Tokens tokens;
  Merges merges;

  int32_t id_of(const std::string& name) const {
    for (const auto& [each, id] : tokens) {
      if (each == name) return id;
    }
    return -1;
  }
  void add(const std::string& name) {
    if (id_of(name) < 0) tokens.emplace_back(name, int32_t(tokens.size()));
  }
};

/// Random merges over the letters; different merges may give the same text, as "a"+"ab" and "aa"+"b" do.
Vocabulary random_vocabulary(const std::string& letters, int count) {
  Vocabulary v;
  for (const char letter : letters) v.add(std::string(1, letter));
  while (count-- > 0) {
    const auto any = [&] { return v.tokens[size_t(random_int(0, int64_t(v.tokens.size()) - 1))].first; };
    const std::pair<std::string, std::string> merge{any(), any()};
    if (merge.first.size() + merge.second.size() > 8) continue;
    if (std::find(v.merges.begin(), v.merges.end(), merge) != v.merges.end()) continue;
    v.merges.push_back(merge);
    v.add(merge.first + merge.second);
  }
  return v;
}

std::vector<std::string> merged_by_definition(const Vocabulary& v, std::vector<std::string> parts) {
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  for (size_t rank = 0; rank < v.merges.size(); ++rank) ranks.emplace(v.merges[rank], rank);
  for (;;) {
    size_t best = parts.size(), lowest = v.merges.size();
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks.find({parts[i], parts[i + 1]});
      if (found != ranks.end() && found->second < lowest) best = i, lowest = found->second;
    }
    if (best == parts.size()) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + long(best) + 1);
  }
}

std::string ids(Bpe& bpe, const std::string& piece) {
  std::vector<int32_t> out;
  bpe.encode(piece, out);
  std::string text;
  for (const int32_t id : out) text += std::to_string(id) + " ";
  return text;
}

}  // namespace

TEST(merges_happen_in_the_order_of_rank_and_place) {
  for (int round = 0; round < 60; ++round) {
    const Vocabulary v = random_vocabulary("abc", 30);
    BpeOptions options;
    options.byte_level = round % 2;
    Bpe bpe(v.tokens, v.merges, options);
    for (int i = 0; i < 60; ++i) {
      std::string piece;
      std::vector<std::string> parts;
      for (int64_t n = random_int(0, 70); n > 0; --n) parts.emplace_back(1, "abc"[random_int(0, 2)]);
      for (const std::string& part : parts) piece += part;
      std::string wanted;
      for (const std::string& part : merged_by_definition(v, parts)) wanted += std::to_string(v.id_of(part)) + " ";
      EXPECT_EQ(ids(bpe, piece), wanted);
      EXPECT_EQ(ids(bpe, piece), wanted);  // the second time from the cache of pieces
    }
  }
}

TEST(a_merge_that_is_listed_twice_has_its_last_rank) {
  const Tokens tokens = {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}};
  Bpe once(tokens, {{"a", "b"}, {"b", "c"}}, {}), twice(tokens, {{"a", "b"}, {"b", "c"}, {"a", "b"}}, {});
  EXPECT_EQ(ids(once, "abc"), "3 2 ");
  EXPECT_EQ(ids(twice, "abc"), "0 4 ");  // as Hugging Face tokenizers does
}

TEST(a_whole_piece_can_win_over_its_merges) {
  const Tokens tokens = {{"a", 0}, {"b", 1}, {"ab", 2}, {"abab", 3}};
  BpeOptions options;
  Bpe merging(tokens, {{"a", "b"}}, options);
  EXPECT_EQ(ids(merging, "abab"), "2 2 ");
  options.ignore_merges = true;
  Bpe looking(tokens, {{"a", "b"}}, options);
  EXPECT_EQ(ids(looking, "abab"), "3 ");
  EXPECT_EQ(ids(looking, "ababab"), "2 2 2 ");
}

TEST(unknown_characters_become_bytes_or_unknown_tokens) {
  const Tokens tokens = {{"<unk>", 0}, {"a", 1}, {"<0xC3>", 2}, {"<0xA9>", 3}, {"<0xE2>", 4}};
  BpeOptions options;
  options.unk = 0;
  Bpe single(tokens, {}, options);
  EXPECT_EQ(ids(single, "a\xC3\xA9\xE2\x82\xAC" "a"), "1 0 0 1 ");
  options.fuse_unk = true;
  Bpe fused(tokens, {}, options);
  EXPECT_EQ(ids(fused, "\xC3\xA9\xE2\x82\xAC" "a\xE2\x82\xAC"), "0 1 0 ");
  options.byte_fallback = true;
  Bpe bytes(tokens, {}, options);
  EXPECT_EQ(ids(bytes, "a\xC3\xA9"), "1 2 3 ");
  // unknown, because not all of its bytes are tokens
  EXPECT_EQ(ids(bytes, "\xE2\x82\xAC" "a"), "0 1 ");
  EXPECT_EQ(ids(bytes, "\xE2\x82\xAC\xC3\xA9"), "2 3 0 ");  // the order of Hugging Face tokenizers
}

TEST(what_cannot_be_spelled_is_named) {
  BpeOptions options;
  Bpe characters({{"a", 0}}, {}, options);
  std::vector<int32_t> out;
  try {
    characters.encode("a\xE2\x82\xAC", out);
    EXPECT_TRUE(false);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kData);
    EXPECT_EQ(std::string(e.what()), "the vocabulary cannot spell character U+20AC and has no unknown token.");
  }
  options.byte_level = true;
  Bpe bytes({{"a", 0}}, {}, options);
  EXPECT_THROWS(bytes.encode("\xC3\xA9", out), Code::kData);
  EXPECT_THROWS(Bpe({{"a", 0}}, {{"a", "b"}}, options), Code::kFormat);
  EXPECT_THROWS(Bpe({{"a", 0}, {"b", 1}}, {{"a", "b"}}, options), Code::kFormat);
}

}  // namespace text_bpe_test
