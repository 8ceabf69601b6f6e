// Decodes token ids to text, at once or incrementally.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace hone::text {

/// The decoder's steps: ByteLevel; or Replace, ByteFallback, Fuse, Strip in this order; or Metaspace; or
/// none, which joins tokens by spaces.
struct DecoderRules {
  bool byte_level = false;
  bool byte_fallback = false;
  std::vector<std::pair<std::string, std::string>> replace;
  std::string strip;      // up to strip_count copies of this are removed from the front of the text
  int64_t strip_count = 0;
  std::string metaspace;  // this text becomes a space, or nothing in the first token if metaspace_first
  bool metaspace_first = false;
  bool spaced = false;

  /// Reads the "decoder" of a tokenizer.json. Throws kUnsupported naming a type, field or order that is not
  /// known.
  static DecoderRules from_json(const Json& json, const std::string& where);
};

/// A token's contribution to the text, computed once for each token of a vocabulary.
struct DecodedToken {
  std::string text;      // UTF-8; with byte_level any bytes
  std::string at_start;  // contribution as the first token, from which Metaspace may drop the spaces
  bool is_byte = false;  // a <0xNN> token of byte_fallback; text is the byte 0xNN
  bool special = false;
  bool exists = false;  // false for an id that no token has
};

DecodedToken decoded_token(const DecoderRules& rules, const std::string& content, bool special);

/// Decodes tokens as they arrive and never returns half a character: an incomplete or ill-formed end waits
/// for the next token. The returned pieces, joined, are the decoded text of all tokens, with one exception: a
/// run of <0xNN> bytes that becomes ill-formed after a part of it was returned (decoded as a whole, all of it
/// would be U+FFFD).
class DecodeStream {
 public:
  /// Keeps references to `rules` and `tokens`.
  DecodeStream(const DecoderRules& rules, const std::vector<DecodedToken>& tokens, bool skip_special)
      : rules_(&rules), tokens_(&tokens), skip_special_(skip_special) {}

  /// Decodes the next token. Returns the text that is certain now, often empty. Throws kData for an id
  /// outside the vocabulary.
  std::string step(int32_t id);
  /// Returns the pending text, with ill-formed sequences as U+FFFD, and resets the stream.
  std::string finish();

  /// Decodes a token without returning text.
  void feed(int32_t id);

 private:
  void end_run();
  bool uncertain() const;
  std::string take();
  void strip(std::string& text);

  const DecoderRules* rules_;
  const std::vector<DecodedToken>* tokens_;
  bool skip_special_;
  std::string waiting_;  // text (bytes with byte_level) that was not returned yet
  std::string run_;      // byte_fallback bytes that follow waiting_
  int64_t stripped_ = 0;
  bool first_ = true;   // no token was decoded yet
  bool strips_ = true;  // the text so far consists of characters that Strip removes
};

}  // namespace hone::text
