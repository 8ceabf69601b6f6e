#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/config_fields.h"
#include "core/error.h"
#include "core/utf8.h"
#include "text/byte_alphabet.h"

namespace hone::text {
namespace {

constexpr int64_t kMostIds = int64_t(1) << 24;  // so that a wrong id in a file cannot ask for all memory

const Json kNull;

const Json& field_or_null(ConfigFields& fields, const char* name) {
  const Json* found = fields.value(name);
  return found ? *found : kNull;
}

/// "a b" or ["a", "b"].
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

/// A byte-level token as its bytes; false for one that no text can produce.
bool to_bytes(std::string& name) {
  std::string bytes;
  if (!bytes_of(name, bytes)) return false;
  name = std::move(bytes);
  return true;
}

int32_t read_id(const Json& json, const std::string& where) {
  const int64_t id = json.as_int(where.c_str());
  if (id < 0 || id >= kMostIds) fail(Code::kFormat, "%s is %lld, expected 0 to %lld.", where.c_str(), (long long)id, (long long)kMostIds - 1);
  return int32_t(id);
}

}  // namespace

Tokenizer::Tokenizer(std::string_view text) {
  const Json json = Json::parse(text, "tokenizer.json");
  ConfigFields fields(json, "tokenizer.json");
  // The last two are habits of the program that saved the file; transformers, too, sets them aside.
  fields.ignore({"version", "truncation", "padding"});
  const Json* model = fields.value("model");
  if (!model) fail(Code::kFormat, "%s is missing.", fields.path("model").c_str());
  normalizer_ = Normalizer::from_json(field_or_null(fields, "normalizer"), fields.path("normalizer"));
  pre_tokenizer_ = PreTokenizer(PreTokenizerRules::from_json(field_or_null(fields, "pre_tokenizer"), fields.path("pre_tokenizer")));
  rules_ = DecoderRules::from_json(field_or_null(fields, "decoder"), fields.path("decoder"));
  read_model(*model);
  read_added(field_or_null(fields, "added_tokens"));
  read_post_processor(field_or_null(fields, "post_processor"), fields.path("post_processor"));
  fields.finish();
  decoded_.resize(names_.size());
  for (const auto& [name, id] : ids_) decoded_[size_t(id)] = decoded_token(rules_, name, false);
  for (const AddedToken& token : added_) {
    std::string& name = names_[size_t(token.id)];
    if (token.normalized) name = normalizer_.apply(name);  // the reference names and decodes it as it is found
    decoded_[size_t(token.id)] = decoded_token(rules_, name, token.special);
  }
}

void Tokenizer::enter(int32_t id, const std::string& name, const std::string& where) {
  if (size_t(id) >= names_.size()) names_.resize(size_t(id) + 1);
  const auto [entry, fresh] = ids_.emplace(name, id);
  const bool taken = fresh && !names_[size_t(id)].empty();
  if (taken || entry->second != id) {
    fail(Code::kFormat, "%s gives id %d to \"%s\", but %s.", where.c_str(), id, name.c_str(),
         taken ? "another token has it" : "that token has another id");
  }
  names_[size_t(id)] = name;
}

void Tokenizer::read_model(const Json& model) {
  const std::string where = "tokenizer.json: model";
  ConfigFields fields(model, where);
  fields.only("type", {"BPE"});
  fields.only("dropout", 0.0);
  fields.only("continuing_subword_prefix", {});
  fields.only("end_of_word_suffix", {});
  BpeOptions options;
  options.byte_level = pre_tokenizer_.byte_level();
  options.byte_fallback = fields.boolean("byte_fallback", false);
  options.fuse_unk = fields.boolean("fuse_unk", false);
  options.ignore_merges = fields.boolean("ignore_merges", false);
  if (options.byte_level && options.byte_fallback) {
    fail(Code::kUnsupported, "%s is true together with a ByteLevel pre-tokenizer.", fields.path("byte_fallback").c_str());
  }

  std::vector<std::pair<std::string, int32_t>> tokens;
  for (const auto& [name, value] : field_or_null(fields, "vocab").members((where + ".vocab").c_str())) {
    const int32_t id = read_id(value, where + ".vocab[\"" + name + "\"]");
    enter(id, name, where + ".vocab");
    std::string text = name;
    if (!options.byte_level || to_bytes(text)) tokens.emplace_back(std::move(text), id);
  }
  const std::string unk = fields.text("unk_token");
  if (!unk.empty()) {
    options.unk = id_of(unk);
    if (options.unk < 0) fail(Code::kFormat, "%s is \"%s\", which is not in the vocabulary.", fields.path("unk_token").c_str(), unk.c_str());
  }
  std::vector<std::pair<std::string, std::string>> merges;
  for (const Json& merge : field_or_null(fields, "merges").items((where + ".merges").c_str())) {
    merges.push_back(read_merge(merge, merges.size()));
    auto& [first, second] = merges.back();
    if (options.byte_level && !(to_bytes(first) && to_bytes(second))) {
      fail(Code::kFormat, "%s.merges[%zu] has a character that is no byte.", where.c_str(), merges.size() - 1);
    }
  }
  fields.finish();
  bpe_ = Bpe(std::move(tokens), merges, options);
}

void Tokenizer::read_added(const Json& list) {
  if (list.is_null()) return;
  for (const Json& each : list.items("tokenizer.json: added_tokens")) {
    const std::string where = "tokenizer.json: added_tokens[" + std::to_string(added_.size()) + "]";
    ConfigFields fields(each, where);
    AddedToken token;
    token.id = read_id(field_or_null(fields, "id"), fields.path("id"));
    token.content = fields.text("content");
    token.single_word = fields.boolean("single_word", false);
    token.lstrip = fields.boolean("lstrip", false);
    token.rstrip = fields.boolean("rstrip", false);
    token.special = fields.boolean("special", false);
    token.normalized = fields.boolean("normalized", !token.special);
    fields.finish();
    if (token.content.empty()) fail(Code::kFormat, "%s is missing or empty.", fields.path("content").c_str());
    enter(token.id, token.content, where);
    added_.push_back(std::move(token));
  }
  for (const AddedToken& token : added_) {
    const std::string spelling = token.normalized ? normalizer_.apply(token.content) : token.content;
    if (!spelling.empty()) (token.normalized ? normalized_ : as_written_).add(&token, spelling);
  }
}

void Tokenizer::read_post_processor(const Json& json, const std::string& where) {
  if (json.is_null()) return;
  ConfigFields fields(json, where);
  fields.only("type", {"Sequence", "ByteLevel", "TemplateProcessing"});
  const std::string type = fields.text("type");
  if (type == "Sequence") {
    int index = 0;
    for (const Json& each : field_or_null(fields, "processors").items(fields.path("processors").c_str())) {
      read_post_processor(each, where + ".processors[" + std::to_string(index++) + "]");
    }
  } else if (type == "TemplateProcessing") {
    read_template(field_or_null(fields, "single"), field_or_null(fields, "special_tokens"), where);
    fields.ignore({"pair"});  // two texts at once, which nobody asks for here
  } else {
    fields.ignore({"add_prefix_space", "trim_offsets", "use_regex"});  // offsets only
  }
  fields.finish();
}

void Tokenizer::read_template(const Json& single, const Json& specials, const std::string& where) {
  std::vector<int32_t> before, behind;
  int sequences = 0;
  for (const Json& item : single.items((where + ".single").c_str())) {
    if (const Json* sequence = item.find("Sequence")) {
      const Json* id = sequence->find("id");
      if (!id || id->as_string(where.c_str()) != "A") fail(Code::kUnsupported, "%s.single: a Sequence that is not A.", where.c_str());
      ++sequences;
      continue;
    }
    const Json* special = item.find("SpecialToken");
    const Json* name = special ? special->find("id") : nullptr;
    if (!name) fail(Code::kUnsupported, "%s.single: %s is neither Sequence nor SpecialToken.", where.c_str(), item.dump().c_str());
    const std::string& key = name->as_string(where.c_str());
    const Json* entry = specials.find(key);
    const Json* ids = entry ? entry->find("ids") : nullptr;
    if (!ids) fail(Code::kFormat, "%s.special_tokens has no ids for \"%s\".", where.c_str(), key.c_str());
    for (const Json& id : ids->items(where.c_str())) (sequences ? behind : before).push_back(read_id(id, where + ".special_tokens"));
  }
  if (sequences != 1) fail(Code::kUnsupported, "%s.single has the text %d times, expected once.", where.c_str(), sequences);
  before_.insert(before_.begin(), before.begin(), before.end());
  behind_.insert(behind_.end(), behind.begin(), behind.end());
}

void Tokenizer::encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) {
  const size_t good = utf8_prefix(text);
  if (good < text.size()) fail(Code::kData, "the text is not UTF-8 at byte %zu.", good);
  if (options.add_special) out.insert(out.end(), before_.begin(), before_.end());
  stretches_.clear();
  as_written_.split(text, options.spell_special, stretches_);
  for (const Stretch& stretch : stretches_) {
    if (stretch.token) out.push_back(stretch.token->id);
    else encode_stretch(stretch.text, stretch.text.data() == text.data(), options, out);
  }
  if (options.add_special) out.insert(out.end(), behind_.begin(), behind_.end());
}

void Tokenizer::encode_stretch(std::string_view text, bool first, const EncodeOptions& options, std::vector<int32_t>& out) {
  std::string normal;
  if (!normalizer_.none()) text = normal = normalizer_.apply(text);
  inner_.clear();
  normalized_.split(text, options.spell_special, inner_);
  for (const Stretch& stretch : inner_) {
    if (stretch.token) {
      out.push_back(stretch.token->id);
      continue;
    }
    pre_tokenizer_.split(stretch.text, first && stretch.text.data() == text.data(), scratch_, pieces_);
    for (const std::string_view piece : pieces_) bpe_.encode(piece, out);
  }
}

std::string Tokenizer::decode(const int32_t* ids, size_t count, bool skip_special) const {
  DecodeStream all = stream(skip_special);
  for (size_t i = 0; i < count; ++i) all.feed(ids[i]);
  return all.finish();
}

const std::string* Tokenizer::name_of(int32_t id) const {
  const bool known = id >= 0 && size_t(id) < decoded_.size() && decoded_[size_t(id)].exists;
  return known ? &names_[size_t(id)] : nullptr;
}

int32_t Tokenizer::id_of(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? -1 : found->second;
}

const std::string& Tokenizer::bytes_of_token(int32_t id) const {
  static const std::string kNothing;
  const DecodedToken& token = decoded_[size_t(id)];
  return token.special ? kNothing : token.text;
}

}  // namespace hone::text
