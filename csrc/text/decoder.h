// Decodes token ids to text, at once or incrementally.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace hone::text {

/// ByteLevel; or Replace, ByteFallback, Fuse, Strip in this order; or Metaspace; or none: tokens joined by spaces.
struct DecoderRules {
  bool byte_level = false;
  bool byte_fallback = false;
  std::vector<std::pair<std::string, std::string>> replace;
  std::string strip;      // up to strip_count of these are taken off the front of the text
  int64_t strip_count = 0;
  std::string metaspace;  // becomes a space, or nothing in the first token if metaspace_first
  bool metaspace_first = false;
  bool spaced = false;

  /// The "decoder" of a tokenizer.json. Throws kUnsupported naming a type, field or order it does not know.
  static DecoderRules from_json(const Json& json, const std::string& where);
};

/// A token's contribution to the text, computed once for each token of a vocabulary.
struct DecodedToken {
  std::string text;      // UTF-8, but any bytes with byte_level
  std::string at_start;  // text of the first token, in which Metaspace may drop its spaces
  bool is_byte = false;  // a <0xNN> of byte_fallback; text is that byte
  bool special = false;
  bool exists = false;  // ids may have holes
};

DecodedToken decoded_token(const DecoderRules& rules, const std::string& content, bool special);

/// Text of tokens as they arrive, never half a character: an incomplete or ill-formed end waits for the next token. The
/// joined pieces are the text of all tokens, with one exception: a run of <0xNN> bytes that becomes ill-formed after a
/// part of it was returned (decoded as a whole, all of it would have been U+FFFD).
class DecodeStream {
 public:
  /// Borrows both.
  DecodeStream(const DecoderRules& rules, const std::vector<DecodedToken>& tokens, bool skip_special)
      : rules_(&rules), tokens_(&tokens), skip_special_(skip_special) {}

  /// Text that is certain now, often empty. Throws kData on an id outside the vocabulary.
  std::string step(int32_t id);
  /// The pending rest, ill-formed sequences as U+FFFD; then resets the stream.
  std::string finish();

  /// Takes a token without returning text.
  void feed(int32_t id);

 private:
  void end_run();
  bool uncertain() const;
  std::string take();
  void strip(std::string& text);

  const DecoderRules* rules_;
  const std::vector<DecodedToken>* tokens_;
  bool skip_special_;
  std::string waiting_;  // text, or bytes with byte_level, not given out yet
  std::string run_;      // bytes of byte_fallback behind it
  int64_t stripped_ = 0;
  bool first_ = true;   // no token yet
  bool strips_ = true;  // only strippable characters so far
};

}  // namespace hone::text
