#include "text/bpe_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "core/config_fields.h"
#include "core/error.h"
#include "text/byte_alphabet.h"

namespace hone::text {
namespace {

constexpr const char* kWhere = "tokenizer.json: model";

/// Reads a merge written as "a b" or ["a", "b"].
std::pair<std::string, std::string> read_merge(const Json& merge, size_t rank) {
  const std::string where = "tokenizer.json: model.merges[" + std::to_string(rank) + "]";
  if (merge.kind() == Json::Kind::kArray) {
    const auto& parts = merge.items(where.c_str());
    if (parts.size() != 2) fail(Code::kFormat, "%s has %zu parts, expected 2.", where.c_str(), parts.size());
    return {parts[0].as_string(where.c_str()), parts[1].as_string(where.c_str())};
  }
  const std::string& text = merge.as_string(where.c_str());
  const size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) {
    fail(Code::kFormat, "%s is \"%s\", expected two parts with one space between.", where.c_str(), text.c_str());
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

/// Replaces the name of a byte-level token by the bytes it represents; returns false if no text can produce
/// the token.
bool to_bytes(std::string& name) {
  std::string bytes;
  if (!bytes_of(name, bytes)) return false;
  name = std::move(bytes);
  return true;
}

BpeOptions read_options(ConfigFields& fields, bool byte_level) {
  fields.only("type", {"BPE"});
  fields.only("dropout", 0.0);
  fields.only("continuing_subword_prefix", {});
  fields.only("end_of_word_suffix", {});
  BpeOptions options;
  options.byte_level = byte_level;
  options.byte_fallback = fields.boolean("byte_fallback", false);
  options.fuse_unk = fields.boolean("fuse_unk", false);
  options.ignore_merges = fields.boolean("ignore_merges", false);
  if (options.byte_level && options.byte_fallback) {
    fail(Code::kUnsupported, "%s is true together with a ByteLevel pre-tokenizer.", fields.path("byte_fallback").c_str());
  }
  return options;
}

std::vector<std::pair<std::string, int32_t>> read_tokens(const Json& list, bool byte_level, Vocabulary& vocabulary) {
  const std::string where = std::string(kWhere) + ".vocab";
  std::vector<std::pair<std::string, int32_t>> tokens;
  for (const auto& [name, value] : list.members(where.c_str())) {
    const int32_t id = token_id(value, where + "[\"" + name + "\"]");
    vocabulary.enter(id, name, where);
    std::string text = name;
    if (!byte_level || to_bytes(text)) tokens.emplace_back(std::move(text), id);
  }
  return tokens;
}

/// Reads the id of the unknown token; -1 if the file names none.
int32_t read_unk(ConfigFields& fields, const Vocabulary& vocabulary) {
  const std::string unk = fields.text("unk_token");
  if (unk.empty()) return -1;
  const int32_t id = vocabulary.id_of(unk);
  if (id < 0) fail(Code::kFormat, "%s is \"%s\", which is not in the vocabulary.", fields.path("unk_token").c_str(), unk.c_str());
  return id;
}

std::vector<std::pair<std::string, std::string>> read_merges(const Json& list, bool byte_level) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const Json& merge : list.items("tokenizer.json: model.merges")) {
    merges.push_back(read_merge(merge, merges.size()));
    auto& [first, second] = merges.back();
    if (byte_level && !(to_bytes(first) && to_bytes(second))) {
      fail(Code::kFormat, "%s.merges[%zu] has a character that is no byte.", kWhere, merges.size() - 1);
    }
  }
  return merges;
}

}  // namespace

Bpe read_bpe(const Json& model, bool byte_level, Vocabulary& vocabulary) {
  ConfigFields fields(model, kWhere);
  BpeOptions options = read_options(fields, byte_level);
  auto tokens = read_tokens(value_or_null(fields, "vocab"), byte_level, vocabulary);
  options.unk = read_unk(fields, vocabulary);
  const auto merges = read_merges(value_or_null(fields, "merges"), byte_level);
  fields.finish();
  return Bpe(std::move(tokens), merges, options);
}

}  // namespace hone::text
