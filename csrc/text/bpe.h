// Byte-pair encoding of one piece of text: merges in order of rank, leftmost first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/id_map.h"

namespace hone::text {

struct BpeOptions {
  bool byte_level = false;     // pieces are bytes and every token a string of bytes; else of characters
  bool byte_fallback = false;  // an unknown character becomes its bytes' <0xNN> tokens, if all exist
  bool fuse_unk = false;       // neighbouring unknown characters become one unknown token
  bool ignore_merges = false;  // a piece that is a token as a whole is that token
  int32_t unk = -1;            // the unknown token; < 0 for none
};

/// Encodes pieces; remembers short ones. One thread at a time.
/// Time O(n log n) and memory O(n) in the bytes of a piece, whatever they are.
/// Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", section 3.2; the order
/// of merges and the treatment of unknown characters are those of Hugging Face tokenizers' BPE model.
class Bpe {
 public:
  Bpe() = default;
  /// tokens: text (bytes, if byte_level) and id. merges: the two parts, in order of rank; both and their
  /// concatenation must be tokens. Throws kFormat naming the merge otherwise.
  Bpe(std::vector<std::pair<std::string, int32_t>> tokens,
      const std::vector<std::pair<std::string, std::string>>& merges, const BpeOptions& options);

  /// Appends the ids of a piece. Throws kData naming the character that the vocabulary cannot spell.
  void encode(std::string_view piece, std::vector<int32_t>& out);

 private:
  struct Merge {
    int32_t rank, id;
  };
  struct Symbol {
    int32_t id, previous, next;  // neighbours by index, -1 at the ends; id < 0 once merged away
  };
  struct Candidate {
    int32_t rank, at, id;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  template <class T>
  using ByText = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  void spell(std::string_view piece);
  void spell_unknown(std::string_view unit, bool& unknown_before);
  void push(int32_t id);
  void offer(int32_t at);
  void merge_all();
  void merge(const Candidate& best);

  BpeOptions options_;
  ByText<int32_t> tokens_;
  int32_t of_byte_[256] = {};  // id of a single byte (byte_level), or of <0xNN> (byte_fallback); < 0 if none
  IdMap<int32_t> of_character_;
  IdMap<Merge> merges_;
  ByText<std::pair<uint32_t, uint32_t>> remembered_;  // piece -> [first, last) in memory_
  std::vector<int32_t> memory_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace hone::text
