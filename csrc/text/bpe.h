// Byte-pair encoding of one piece of text: merges in order of rank, leftmost first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/by_text.h"
#include "text/id_map.h"
#include "text/merger.h"
#include "text/piece_memory.h"

namespace hone::text {

struct BpeOptions {
  // pieces are bytes and tokens strings of bytes; otherwise both consist of characters
  bool byte_level = false;
  // a character that is no token becomes the <0xNN> tokens of its bytes, if the vocabulary has all of them
  bool byte_fallback = false;
  bool fuse_unk = false;       // neighbouring unknown characters become one unknown token
  bool ignore_merges = false;  // a piece that is a complete token becomes that token
  int32_t unk = -1;            // the unknown token; < 0 for none
};

/// Encodes pieces; remembers short ones. Not thread-safe. Time O(n log n) and memory O(n) in the bytes of a
/// piece, for any piece.
/// Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", section 3.2; the order
/// of merges and the treatment of unknown characters are those of Hugging Face tokenizers' BPE model.
class Bpe {
 public:
  Bpe() = default;
  /// tokens: text (bytes, if byte_level) and id. merges: the two parts of each merge, in order of rank.
  /// Throws kFormat naming the merge unless both parts and their concatenation are tokens.
  Bpe(std::vector<std::pair<std::string, int32_t>> tokens,
      const std::vector<std::pair<std::string, std::string>>& merges, const BpeOptions& options);

  /// Appends the ids of a piece. Throws kData naming a character that no token of the vocabulary represents.
  void encode(std::string_view piece, std::vector<int32_t>& out);

 private:
  void spell(std::string_view piece);
  void spell_unknown(std::string_view unit, bool& unknown_before);

  BpeOptions options_;
  ByText<int32_t> tokens_;
  // id of the token of a single byte (byte_level) or of <0xNN> (byte_fallback); < 0 if there is none
  int32_t of_byte_[256] = {};
  IdMap<int32_t> of_character_;
  Merger merger_;
  PieceMemory memory_;
};

}  // namespace hone::text
