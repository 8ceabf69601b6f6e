// Decoding all tokens at once and token by token. Faults put into the code: half a character returned; the
// first word's space kept; an ill-formed run of bytes returned as one U+FFFD; stripping at every call;
// at_start used for every token.
#include "text/decoder.h"

#include "check.h"
#include "core/utf8.h"

namespace text_decoder_test {

using namespace hone;
using namespace hone::test;
using text::DecodedToken;
using text::DecoderRules;
using text::DecodeStream;

namespace {

constexpr const char* kR = "\xEF\xBF\xBD";
constexpr const char* kByteLevel = R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})";
constexpr const char* kSentencePiece = R"({"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "_"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})";

struct Decoder {
  DecoderRules rules;
  std::vector<DecodedToken> tokens;

  Decoder(const char* json, const std::vector<std::string>& names)
      : rules(DecoderRules::from_json(Json::parse(json, "test"), "decoder")) {
    for (const std::string& name : names) tokens.push_back(text::decoded_token(rules, name, name == "<s>"));
  }
  std::string whole(const std::vector<int32_t>& ids, bool skip = false) const {
    DecodeStream stream(rules, tokens, skip);
    for (const int32_t id : ids) stream.feed(id);
    return stream.finish();
  }
  /// The texts returned for each token and at the end, separated by "|".
  std::string steps(const std::vector<int32_t>& ids, bool skip = false) const {
    DecodeStream stream(rules, tokens, skip);
    std::string out;
    for (const int32_t id : ids) out += stream.step(id) + "|";
    return out + stream.finish();
  }
};

std::string refusal(const char* json) {
  try {
    DecoderRules::from_json(Json::parse(json, "test"), "decoder");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST(byte_level_waits_for_whole_characters) {
  // 0 " a", 1-3 the bytes of U+20AC, 4 a lone continuation byte, 5 "x", 6 a literal U+FFFD
  const Decoder d(kByteLevel, {"\xC4\xA0" "a", "\xC3\xA2", "\xC4\xA4", "\xC2\xAC", "\xC4\xA2", "x", "\xC3\xAF\xC2\xBF\xC2\xBD"});
  EXPECT_EQ(d.steps({0, 1, 2, 3, 5}), " a|||\xE2\x82\xAC|x|");
  EXPECT_EQ(d.steps({1, 2}), "||" + std::string(kR));
  EXPECT_EQ(d.steps({5, 1, 5}), "x||" + (kR + std::string("x|")));
  EXPECT_EQ(d.steps({4, 4, 5}), "||" + (std::string(kR) + kR) + "x|");
  EXPECT_EQ(d.steps({6, 5}), "|" + std::string(kR) + "x|");
  EXPECT_EQ(d.whole({1, 5, 1, 2, 3}), std::string(kR) + "x\xE2\x82\xAC");
}

TEST(sentencepiece_drops_one_space_in_front) {
  const Decoder d(kSentencePiece, {"_a", "_", "b", "<0xE2>", "<0x82>", "<0xAC>", "<s>", "<0x41>"});
  EXPECT_EQ(d.steps({0, 0, 2}), "a| a|b|");
  EXPECT_EQ(d.steps({1, 1, 2}), "| |b|");
  EXPECT_EQ(d.whole({1, 1, 1}), "  ");
  EXPECT_EQ(d.steps({2, 0}), "b| a|");
  EXPECT_EQ(d.steps({3, 4, 5, 2}), "||\xE2\x82\xAC|b|");
  EXPECT_EQ(d.steps({7, 2}), "A|b|");
  EXPECT_EQ(d.whole({3, 4, 2}), std::string(kR) + kR + "b");
  // a run of bytes is decoded only if all of it is well formed
  EXPECT_EQ(d.whole({3, 4, 5, 3}), std::string(kR) + kR + kR + kR);
  EXPECT_EQ(d.whole({6, 0}), "<s> a");
  EXPECT_EQ(d.whole({6, 0}, true), "a");
  EXPECT_EQ(d.steps({6, 0, 6, 0}, true), "|a|| a|");
}

TEST(metaspace_and_no_decoder) {
  const Decoder d(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": true})", {"_a", "b_", "<s>"});
  EXPECT_EQ(d.whole({0, 0, 1}), "a ab ");
  EXPECT_EQ(d.whole({2, 0}, true), "a");
  EXPECT_EQ(d.steps({0, 0}), "a| a|");
  const Decoder never(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "never"})", {"_a"});
  EXPECT_EQ(never.whole({0, 0}), " a a");
  const Decoder none("null", {"a", "b"});
  EXPECT_EQ(none.whole({0, 1, 0}), "a b a");
  EXPECT_EQ(none.steps({0, 1, 0}), "a| b| a|");
}

TEST(steps_joined_are_the_whole_and_never_half_a_character) {
  std::vector<std::string> names = {"\xC4\xA0the", "\xC3\xAF\xC2\xBF\xC2\xBD", "x"};
  for (const char* byte : {"\xC3\xA2", "\xC4\xA4", "\xC2\xAC", "\xC3\xB0", "\xC5\x81", "\xC3\xBF", "\xC3\xA0"}) names.push_back(byte);
  const Decoder d(kByteLevel, names);
  for (int i = 0; i < 5000; ++i) {
    std::vector<int32_t> ids;
    for (int64_t n = random_int(0, 15); n > 0; --n) ids.push_back(int32_t(random_int(0, int64_t(names.size()) - 1)));
    DecodeStream stream(d.rules, d.tokens, false);
    std::string joined;
    for (const int32_t id : ids) {
      const std::string piece = stream.step(id);
      EXPECT_EQ(utf8_prefix(piece), piece.size());
      EXPECT_TRUE(piece.size() < 3 || piece.substr(piece.size() - 3) != kR);
      joined += piece;
    }
    EXPECT_EQ(joined + stream.finish(), d.whole(ids));
  }
}

TEST(an_unknown_id_is_a_data_error) {
  const Decoder d(kByteLevel, {"a"});
  EXPECT_THROWS(d.whole({0, 1}), Code::kData);
  EXPECT_THROWS(d.whole({-1}), Code::kData);
}

TEST(what_is_not_understood_is_named) {
  const auto names = [](const char* json, const char* part) {
    const std::string found = refusal(json);
    if (found.find(part) == std::string::npos) report(__FILE__, __LINE__, found + " does not name " + part);
  };
  names(R"({"type": "WordPiece"})", "decoder: type is \"WordPiece\"");
  names(R"({"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]})", "decoder.decoders[1]: decoders are");
  names(R"({"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteLevel"}]})", "decoder.decoders[1]: decoders are");
  names(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})", "only behind Fuse");
  names(R"({"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}]})",
        "stop is 1; only 0");
  names(R"({"type": "ByteFallback", "first": 1})", "field \"first\" = 1");
  names(R"({})", "type is missing");
}

}  // namespace text_decoder_test
