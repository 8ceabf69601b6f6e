// Reading a model's tokens, merges and options, and what is refused. Faults put into the code: a merge in
// brackets read backwards; byte names not decoded to bytes; unk_token not looked up.
#include "text/bpe_reader.h"

#include "check.h"
#include "core/error.h"

namespace text_bpe_reader_test {

using namespace hone;
using namespace hone::test;
using text::Bpe;
using text::Vocabulary;

namespace {

/// JSON of a model with a vocabulary, merges, and the further fields in `rest`.
std::string model(const std::string& vocab, const std::string& merges, const std::string& rest = "") {
  return R"({"type": "BPE", "vocab": {)" + vocab + R"(}, "merges": [)" + merges + "]" + rest + "}";
}

struct Read {
  Vocabulary vocabulary;
  Bpe bpe;

  explicit Read(const std::string& json, bool byte_level = false)
      : bpe(text::read_bpe(Json::parse(json, "test"), byte_level, vocabulary)) {}
  std::string ids(const std::string& piece) {
    std::vector<int32_t> out;
    bpe.encode(piece, out);
    std::string text;
    for (const int32_t id : out) text += std::to_string(id) + " ";
    return text;
  }
};

std::string refusal(Code code, const std::string& json, bool byte_level = false) {
  try {
    Read read(json, byte_level);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == code);
    return e.what();
  }
  return "none";
}

const std::string kLetters = R"("a": 0, "b": 1, "ab": 4)";

}  // namespace

TEST(merges_are_written_in_two_ways) {
  EXPECT_EQ(Read(model(kLetters, R"("a b")")).ids("abba"), "4 1 0 ");
  EXPECT_EQ(Read(model(kLetters, R"(["a", "b"])")).ids("abba"), "4 1 0 ");
  EXPECT_EQ(Read(model(R"("a ": 0, "b": 1, "a b": 2, "a": 3, " ": 4)", R"(["a", " "], ["a ", "b"])")).ids("a b"), "2 ");
}

TEST(tokens_are_entered_under_their_names) {
  const Read read(model(kLetters, ""));
  EXPECT_EQ(read.vocabulary.size(), 5u);
  EXPECT_EQ(read.vocabulary.id_of("ab"), 4);
  EXPECT_EQ(read.vocabulary.name(1), "b");
}

TEST(names_of_byte_level_spell_bytes) {
  // U+0120 stands for a space, U+010A for a line feed; U+4E2D stands for no byte, so no text contains that token.
  Read read(model("\"\u0120\": 0, \"a\": 1, \"\u0120a\": 2, \"\u010A\": 3, \"\u4E2D\": 4", "\"\u0120 a\""), true);
  EXPECT_EQ(read.ids(" a\n"), "2 3 ");
  EXPECT_EQ(read.vocabulary.id_of("\u4E2D"), 4);
  EXPECT_EQ(refusal(Code::kFormat, model("\"a\": 0, \"\u4E2D\": 1", "\"a \u4E2D\""), true),
            "tokenizer.json: model.merges[0] has a character that is no byte.");
}

TEST(options_are_those_of_the_file) {
  const std::string vocab = R"("?": 7, "a": 1, "aa": 2, "<0xC3>": 3, "<0xA9>": 4)";
  EXPECT_EQ(Read(model(vocab, "", R"(, "unk_token": "?")")).ids("xxa"), "7 7 1 ");
  EXPECT_EQ(Read(model(vocab, "", R"(, "unk_token": "?", "fuse_unk": true)")).ids("xxa"), "7 1 ");
  EXPECT_EQ(Read(model(vocab, "", R"(, "byte_fallback": true)")).ids("\u00E9"), "3 4 ");
  EXPECT_EQ(Read(model(vocab, "")).ids("aa"), "1 1 ");
  EXPECT_EQ(Read(model(vocab, "", R"(, "ignore_merges": true)")).ids("aa"), "2 ");
}

TEST(what_is_not_understood_is_named) {
  const auto names = [](Code code, const std::string& json, const std::string& part, bool byte_level = false) {
    const std::string found = refusal(code, json, byte_level);
    if (found.find("tokenizer.json: model" + part) != 0) report(__FILE__, __LINE__, found + " does not begin with " + part);
  };
  names(Code::kUnsupported, R"({"type": "Unigram"})", ": type is \"Unigram\"");
  names(Code::kUnsupported, model("", "", R"(, "dropout": 0.1)"), ": dropout is 0.1");
  names(Code::kUnsupported, model("", "", R"(, "continuing_subword_prefix": "##")"), ": continuing_subword_prefix");
  names(Code::kUnsupported, model("", "", R"(, "end_of_word_suffix": "</w>")"), ": end_of_word_suffix");
  names(Code::kUnsupported, model("", "", R"(, "surprise": 1)"), ": field \"surprise\" = 1");
  names(Code::kUnsupported, model("", "", R"(, "byte_fallback": true)"), ": byte_fallback is true together", true);
  names(Code::kFormat, model("", "", R"(, "unk_token": "?")"), ": unk_token is \"?\", which is not in the vocabulary.");
  names(Code::kFormat, model(R"("a": -1)", ""), ".vocab[\"a\"] is -1");
  names(Code::kFormat, model(R"("a": 1, "b": 1)", ""), ".vocab gives id 1 to \"b\"");
  names(Code::kFormat, model(kLetters, R"("ab")"), ".merges[0] is \"ab\"");
  names(Code::kFormat, model(kLetters, R"("a b", "a b c")"), ".merges[1] is \"a b c\"");
  names(Code::kFormat, model(kLetters, R"(["a"])"), ".merges[0] has 1 parts");
  names(Code::kFormat, R"({"type": "BPE", "merges": []})", ".vocab");
  names(Code::kFormat, R"({"type": "BPE", "vocab": {}})", ".merges");
}

}  // namespace text_bpe_reader_test
