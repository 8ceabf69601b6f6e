#include "text/tokenizer.h"

#include <utility>

#include "core/config_fields.h"
#include "core/error.h"
#include "core/utf8.h"
#include "text/bpe_reader.h"

namespace hone::text {

Tokenizer::Tokenizer(std::string_view text) {
  const Json json = Json::parse(text, "tokenizer.json");
  ConfigFields fields(json, "tokenizer.json");
  // truncation and padding are settings of the program that saved the file; transformers ignores them too.
  fields.ignore({"version", "truncation", "padding"});
  const Json* model = fields.value("model");
  if (!model) fail(Code::kFormat, "%s is missing.", fields.path("model").c_str());
  normalizer_ = Normalizer::from_json(value_or_null(fields, "normalizer"), fields.path("normalizer"));
  pre_tokenizer_ = PreTokenizer(PreTokenizerRules::from_json(value_or_null(fields, "pre_tokenizer"), fields.path("pre_tokenizer")));
  rules_ = DecoderRules::from_json(value_or_null(fields, "decoder"), fields.path("decoder"));
  bpe_ = read_bpe(*model, pre_tokenizer_.byte_level(), vocabulary_);
  read_added(value_or_null(fields, "added_tokens"));
  around_ = PostProcessor::from_json(value_or_null(fields, "post_processor"), fields.path("post_processor"));
  fields.finish();
  decoded_.resize(vocabulary_.size());
  for (const auto& [name, id] : vocabulary_.ids()) decoded_[size_t(id)] = decoded_token(rules_, name, false);
  for (const AddedToken& token : added_) {
    // In the reference a normalized added token has its normalized text as its name and text.
    if (token.normalized) vocabulary_.rename(token.id, normalizer_.apply(vocabulary_.name(token.id)));
    decoded_[size_t(token.id)] = decoded_token(rules_, vocabulary_.name(token.id), token.special);
  }
}

void Tokenizer::read_added(const Json& list) {
  if (list.is_null()) return;
  for (const Json& each : list.items("tokenizer.json: added_tokens")) {
    const std::string where = "tokenizer.json: added_tokens[" + std::to_string(added_.size()) + "]";
    ConfigFields fields(each, where);
    AddedToken token;
    token.id = token_id(value_or_null(fields, "id"), fields.path("id"));
    token.content = fields.text("content");
    token.single_word = fields.boolean("single_word", false);
    token.lstrip = fields.boolean("lstrip", false);
    token.rstrip = fields.boolean("rstrip", false);
    token.special = fields.boolean("special", false);
    token.normalized = fields.boolean("normalized", !token.special);
    fields.finish();
    if (token.content.empty()) fail(Code::kFormat, "%s is missing or empty.", fields.path("content").c_str());
    vocabulary_.enter(token.id, token.content, where);
    added_.push_back(std::move(token));
  }
  for (const AddedToken& token : added_) {
    const std::string spelling = token.normalized ? normalizer_.apply(token.content) : token.content;
    if (!spelling.empty()) (token.normalized ? normalized_ : as_written_).add(&token, spelling);
  }
}

void Tokenizer::encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) {
  const size_t good = utf8_prefix(text);
  if (good < text.size()) fail(Code::kData, "the text is not UTF-8 at byte %zu.", good);
  if (options.add_special) out.insert(out.end(), around_.before.begin(), around_.before.end());
  stretches_.clear();
  as_written_.split(text, options.spell_special, stretches_);
  for (const Stretch& stretch : stretches_) {
    if (stretch.token) out.push_back(stretch.token->id);
    else encode_stretch(stretch.text, stretch.text.data() == text.data(), options, out);
  }
  if (options.add_special) out.insert(out.end(), around_.behind.begin(), around_.behind.end());
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
  return known ? &vocabulary_.name(id) : nullptr;
}

const std::string& Tokenizer::bytes_of_token(int32_t id) const {
  static const std::string kNothing;
  const DecodedToken& token = decoded_[size_t(id)];
  return token.special ? kNothing : token.text;
}

}  // namespace hone::text
