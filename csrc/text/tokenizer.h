// A tokenizer.json of the Hugging Face format as an encoder and decoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/vocabulary.h"

namespace hone::text {

struct EncodeOptions {
  bool add_special = false;    // special tokens that the post-processor adds around a text (bos, eos)
  bool spell_special = false;  // special tokens that are spelled out in the text count as ordinary characters
};

/// Byte-level and character-level BPE. Ids, pieces and texts agree with those of Hugging Face tokenizers.
/// encode() is not thread-safe (it caches pieces); all other methods are const. Source:
/// github.com/huggingface/tokenizers.
class Tokenizer {
 public:
  /// Parses `json`, the text of a tokenizer.json. Throws kFormat if it is malformed, kUnsupported naming each
  /// part that is not known and could change a result.
  explicit Tokenizer(std::string_view json);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Appends the ids of a text. Throws kData if the text is not UTF-8 or the vocabulary cannot represent it.
  void encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out);

  /// The text of ids, with ill-formed byte sequences as U+FFFD. Throws kData for an id outside the
  /// vocabulary.
  std::string decode(const int32_t* ids, size_t count, bool skip_special) const;
  /// A stream that decodes with this tokenizer, which must outlive it.
  DecodeStream stream(bool skip_special) const { return DecodeStream(rules_, decoded_, skip_special); }

  /// One more than the greatest id; ids may have gaps.
  int32_t vocabulary_size() const { return int32_t(vocabulary_.size()); }
  /// A token's name as in the file, normalized if AddedToken::normalized; nullptr if no token has the id.
  const std::string* name_of(int32_t id) const;
  /// The token's id, or -1 if there is no token of that name.
  int32_t id_of(const std::string& name) const { return vocabulary_.id_of(name); }
  /// The bytes that a token represents, for ids in [0, vocabulary_size()); empty for special tokens and for
  /// ids that no token has.
  const std::string& bytes_of_token(int32_t id) const;

 private:
  void read_added(const Json& list);
  void encode_stretch(std::string_view text, bool first, const EncodeOptions& options, std::vector<int32_t>& out);

  Vocabulary vocabulary_;
  std::vector<AddedToken> added_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Bpe bpe_;
  DecoderRules rules_;
  TokenFinder as_written_, normalized_;
  PostProcessor around_;  // tokens of EncodeOptions::add_special
  std::vector<DecodedToken> decoded_;
  // Buffers reused between calls of encode().
  std::vector<Stretch> stretches_, inner_;
  std::vector<std::string_view> pieces_;
  std::string scratch_;
};

}  // namespace hone::text
