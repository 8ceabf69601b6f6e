// Golden cases of seven tokenizers, made by Hugging Face tokenizers; round trips of random texts; refusals.
// Faults put into the code: added tokens searched after normalizing; the template's suffix left out; inner
// stretches of text treated as the first; a special token's bytes kept.
#include "text/tokenizer.h"

#include "check.h"
#include "core/utf8.h"
#include "golden_files.h"
#include "text/processor_time.h"

namespace text_tokenizer_test {

using namespace hone;
using namespace hone::test;
using text::EncodeOptions;
using text::Tokenizer;

namespace {

std::vector<int32_t> ids(const Json& json) {
  std::vector<int32_t> out;
  for (const Json& item : json.items("ids")) out.push_back(int32_t(item.as_int("id")));
  return out;
}

std::string shown(const std::vector<int32_t>& list) {
  std::string out;
  for (const int32_t id : list) out += std::to_string(id) + " ";
  return out;
}

std::vector<int32_t> encode(Tokenizer& tokenizer, const std::string& text, const EncodeOptions& options = {}) {
  std::vector<int32_t> out;
  tokenizer.encode(text, options, out);
  return out;
}

std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& list, bool skip = false) {
  return tokenizer.decode(list.data(), list.size(), skip);
}

std::string trimmed(const std::string& text) {
  const char* const space = " \n\t\r";
  const size_t first = text.find_first_not_of(space);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(space) + 1 - first);
}

/// Compares `found` with the value of `key` in the golden file; a failure names tokenizer, case and key.
template <class T>
void same(const std::string& where, const char* key, const T& found, const T& wanted) {
  if (found != wanted) report(where.c_str(), 0, std::string(key) + " is " + show(found) + ", expected " + show(wanted));
}

void check_stream(const Tokenizer& tokenizer, const std::string& where, const Json& item, const char* key, bool skip) {
  const Json* wanted = item.find(key);
  if (!wanted) return;
  text::DecodeStream stream = tokenizer.stream(skip);
  std::string found, expected;
  const std::vector<int32_t> list = ids(*item.find("ids"));
  for (size_t i = 0; i < list.size(); ++i) {
    const Json& step = wanted->items(key)[i];
    found += stream.step(list[i]) + "|";
    expected += (step.is_null() ? "" : step.as_string(key)) + "|";
  }
  same(where, key, found, expected);
}

void check_case(Tokenizer& tokenizer, const std::string& where, const Json& item) {
  const std::string input = item.find("text")->as_string("text");
  const std::vector<int32_t> plain = encode(tokenizer, input), wanted = ids(*item.find("ids"));
  same(where, "ids", shown(plain), shown(wanted));
  const std::vector<int32_t> special = ids(*item.find("ids_with_special"));
  same(where, "ids_with_special", shown(encode(tokenizer, input, {true, false})), shown(special));
  same(where, "decoded", decode(tokenizer, wanted), item.find("decoded")->as_string("decoded"));
  same(where, "decoded_skip", decode(tokenizer, wanted, true), item.find("decoded_skip")->as_string("decoded_skip"));
  same(where, "decoded_with_special", decode(tokenizer, special), item.find("decoded_with_special")->as_string("d"));
  const auto& pieces = item.find("pieces")->items("pieces");
  for (size_t i = 0; i < wanted.size(); ++i) {
    // The golden file lists an added token together with the white space that it consumed.
    same(where, "piece", trimmed(*tokenizer.name_of(wanted[i])), trimmed(pieces[i].as_string("piece")));
  }
  check_stream(tokenizer, where, item, "stream", false);
  check_stream(tokenizer, where, item, "stream_skip", true);
  if (const Json* prefixes = item.find("prefix_decodes")) {
    for (size_t k = 0; k < wanted.size(); ++k) {
      const std::vector<int32_t> head(wanted.begin(), wanted.begin() + long(k) + 1);
      same(where, "prefix_decodes", decode(tokenizer, head), prefixes->items("p")[k].as_string("p"));
    }
  }
}

/// A small tokenizer without ids 3 to 6.
constexpr const char* kSmall = R"({"version": "1.0",
    "added_tokens": [{"id": 7, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
    "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})";

constexpr const char* kNames[] = {"gpt2", "llama3", "qwen2", "tekken", "tekken-boseos", "spm-prepend", "spm-metaspace-first"};

}  // namespace

TEST(every_golden_case_is_equal) {
  if (goldens().empty()) SKIP("no golden data beside the repository");
  for (const char* name : kNames) {
    const std::string folder = goldens() + "/tokenizers/" + name;
    Tokenizer tokenizer(file_text(folder + "/tokenizer.json"));
    size_t cases = 0;
    for (const Json& item : json_lines(folder + "/cases.jsonl")) {
      check_case(tokenizer, name + std::string(" case ") + std::to_string(cases++), item);
    }
    EXPECT_EQ(cases, 294u);
    size_t decoded = 0;
    for (const Json& item : json_lines(folder + "/decode_cases.jsonl")) {
      const std::string where = name + std::string(" decode case ") + std::to_string(decoded++);
      const std::vector<int32_t> list = ids(*item.find("ids"));
      same(where, "decoded", decode(tokenizer, list), item.find("decoded")->as_string("decoded"));
      same(where, "decoded_skip", decode(tokenizer, list, true), item.find("decoded_skip")->as_string("decoded_skip"));
    }
    EXPECT_EQ(decoded, 40u);
  }
}

TEST(newer_splits_give_the_ids_of_the_reference) {
  const Json all = Json::parse(fixture_text("tokenizers/newer-splits.json"), "newer-splits.json");
  const auto& texts = all.find("texts")->items("texts");
  for (const auto& [name, each] : all.find("tokenizers")->members("tokenizers")) {
    Tokenizer tokenizer(each.find("file")->as_string("file"));
    const auto& wanted = each.find("ids")->items("ids");
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i].as_string("text");
      same(name + ", text " + std::to_string(i), "ids", shown(encode(tokenizer, text)), shown(ids(wanted[i])));
      EXPECT_EQ(decode(tokenizer, encode(tokenizer, text)), text);
    }
  }
}

TEST(decoding_gives_back_what_was_encoded) {
  if (goldens().empty()) SKIP("no golden data beside the repository");
  static constexpr uint32_t kCodes[] = {'a', 'b', ' ', ' ', '\n', '\r', '.', '1', '\'', 's', 0, 0x7F, 0xE9, 0x301, 0x4E2D, 0x1F600, 0xFFFD, 0x10FFFF};
  for (const char* name : {"gpt2", "llama3", "tekken", "tekken-boseos"}) {
    Tokenizer tokenizer(file_text(goldens() + "/tokenizers/" + name + "/tokenizer.json"));
    for (int i = 0; i < 300; ++i) {
      std::string input;
      for (int64_t n = random_int(0, 40); n > 0; --n) {
        append_utf8(input, random_int(0, 3) ? kCodes[random_int(0, std::size(kCodes) - 1)] : uint32_t(random_int(0xE000, 0x10FFFF)));
      }
      const std::vector<int32_t> list = encode(tokenizer, input, {false, true});
      EXPECT_EQ(decode(tokenizer, list), input);
      std::string bytes;
      for (const int32_t id : list) bytes += tokenizer.bytes_of_token(id);
      EXPECT_EQ(bytes, input);
    }
  }
}

TEST(any_ids_decode_to_text_that_can_be_encoded) {
  if (goldens().empty()) SKIP("no golden data beside the repository");
  for (const char* name : kNames) {
    Tokenizer tokenizer(file_text(goldens() + "/tokenizers/" + name + "/tokenizer.json"));
    for (int i = 0; i < 200; ++i) {
      std::vector<int32_t> list;
      for (int64_t n = random_int(0, 30); n > 0; --n) list.push_back(int32_t(random_int(0, tokenizer.vocabulary_size() - 1)));
      const std::string text = decode(tokenizer, list);
      EXPECT_EQ(utf8_prefix(text), text.size());
      encode(tokenizer, text, {true, false});
      text::DecodeStream stream = tokenizer.stream(false);
      std::string joined;
      for (const int32_t id : list) joined += stream.step(id);
      joined += stream.finish();
      // A run of <0xNN> may turn out ill-formed after its first part was returned; nothing else may differ.
      if (std::string(name).find("spm") == std::string::npos) EXPECT_EQ(joined, text);
    }
  }
}

TEST(bytes_that_are_not_utf8_are_a_data_error) {
  Tokenizer tokenizer(kSmall);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (int64_t n = random_int(1, 8); n > 0; --n) bytes += char(random_int(0, 255));
    const bool good = utf8_prefix(bytes) == bytes.size();
    try {
      encode(tokenizer, bytes);
      EXPECT_TRUE(good);
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kData);
    }
  }
}

TEST(names_ids_and_holes) {
  Tokenizer tokenizer(kSmall);
  EXPECT_EQ(tokenizer.vocabulary_size(), 8);
  EXPECT_EQ(tokenizer.id_of("ab"), 2);
  EXPECT_EQ(tokenizer.id_of("<s>"), 7);
  EXPECT_EQ(tokenizer.id_of("nothing"), -1);
  EXPECT_EQ(*tokenizer.name_of(2), "ab");
  EXPECT_TRUE(tokenizer.name_of(5) == nullptr && tokenizer.name_of(8) == nullptr && tokenizer.name_of(-1) == nullptr);
  EXPECT_EQ(tokenizer.bytes_of_token(2), "ab");
  EXPECT_EQ(tokenizer.bytes_of_token(7), "");
  EXPECT_EQ(shown(encode(tokenizer, "ab<s>a")), "2 7 0 ");
  EXPECT_THROWS(encode(tokenizer, "c"), Code::kData);
  EXPECT_THROWS(decode(tokenizer, {5}), Code::kData);
}

TEST(what_is_not_understood_is_named) {
  const struct { const char* from; const char* to; Code code; const char* names; } cases[] = {
      {"\"BPE\"", "\"Unigram\"", Code::kUnsupported, "model: type is \"Unigram\""},
      {"\"BPE\"", "\"BPE\", \"dropout\": 0.1", Code::kUnsupported, "dropout is 0.1"},
      {"\"BPE\"", "\"BPE\", \"end_of_word_suffix\": \"</w>\"", Code::kUnsupported, "end_of_word_suffix"},
      {"\"BPE\"", "\"BPE\", \"surprise\": 1", Code::kUnsupported, "\"surprise\" = 1"},
      {"\"BPE\"", "\"BPE\", \"unk_token\": \"<unk>\"", Code::kFormat, "unk_token is \"<unk>\""},
      {"\"a b\"", "\"a c\"", Code::kFormat, "merges[0] joins \"a\" and \"c\", but \"c\""},
      {"\"a b\"", "\"a b c\"", Code::kFormat, "merges[0] is \"a b c\""},
      {"\"a b\"", "[\"a\"]", Code::kFormat, "merges[0] has 1 parts"},
      {"\"ab\": 2", "\"ab\": 1", Code::kFormat, "gives id 1 to \"ab\", but another token has it"},
      {"\"ab\": 2", "\"ab\": 99999999", Code::kFormat, "vocab[\"ab\"] is 99999999"},
      {"\"id\": 7", "\"id\": 2", Code::kFormat, "added_tokens[0] gives id 2"},
      {"\"special\": true", "\"special\": true, \"weight\": 2", Code::kUnsupported, "added_tokens[0]: field \"weight\""},
      {"\"post_processor\": null", "\"post_processor\": {\"type\": \"BertProcessing\"}", Code::kUnsupported, "BertProcessing"},
      {"\"post_processor\": null", "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": []}", Code::kUnsupported,
       "has the text 0 times"},
      {"{", "[", Code::kFormat, "tokenizer.json"},
  };
  for (const auto& [from, to, code, names] : cases) {
    std::string json = kSmall;
    json.replace(json.find(from), std::string(from).size(), to);
    try {
      Tokenizer tokenizer(json);
      report(__FILE__, __LINE__, std::string("accepted ") + to);
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == code);
      if (std::string(e.what()).find(names) == std::string::npos) report(__FILE__, __LINE__, std::string(e.what()) + " does not name " + names);
    }
  }
}

TEST(time_is_linear_whatever_the_text) {
  if (goldens().empty()) SKIP("no golden data beside the repository");
  for (const char* name : kNames) {
    Tokenizer tokenizer(file_text(goldens() + "/tokenizers/" + name + "/tokenizer.json"));
    for (const std::string unit : {"a", " ", "\xCC\x81", "\n", "<|both|>  ", "<"}) {
      std::string input;
      while (input.size() < 300000) input += unit;
      const double start = processor_seconds();
      const std::vector<int32_t> list = encode(tokenizer, input);
      decode(tokenizer, list);
      const double seconds = processor_seconds() - start;
      if (seconds > 20) report(name, 0, "300 kB of one thing took " + show(seconds) + " s");
    }
  }
}

}  // namespace text_tokenizer_test
