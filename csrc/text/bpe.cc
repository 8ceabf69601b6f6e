#include "text/bpe.h"

#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "core/utf8.h"

namespace hone::text {
namespace {

constexpr size_t kRememberedBytes = 48;         // longer pieces are rare and seldom come back
constexpr size_t kRememberedIds = size_t(1) << 20;  // then everything is forgotten: bounded, and no bookkeeping

/// "<0x0A>"
std::string byte_token(int byte) {
  char name[8];
  std::snprintf(name, sizeof name, "<0x%02X>", byte);
  return name;
}

/// Later in the heap means earlier in the order: std::push_heap keeps the greatest first.
struct Later {
  template <class Candidate>
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

}  // namespace

Bpe::Bpe(std::vector<std::pair<std::string, int32_t>> tokens,
         const std::vector<std::pair<std::string, std::string>>& merges, const BpeOptions& options)
    : options_(options) {
  tokens_.reserve(tokens.size());
  for (auto& [name, id] : tokens) tokens_.emplace(std::move(name), id);
  const auto id_of = [this](const std::string& name) {
    const auto found = tokens_.find(name);
    return found == tokens_.end() ? -1 : found->second;
  };
  for (int byte = 0; byte < 256; ++byte) {
    of_byte_[byte] = id_of(options.byte_level ? std::string(1, char(byte)) : byte_token(byte));
  }
  if (!options.byte_level) {
    for (const auto& [name, id] : tokens_) {
      if (!name.empty() && size_t(utf8_length(name)) == name.size()) {
        of_character_.insert(code_point_at(name.data()).value, id);
      }
    }
  }
  // Backwards, because of a merge that is listed twice the last place counts.
  for (size_t rank = merges.size(); rank-- > 0;) {
    const auto& [first, second] = merges[rank];
    const int32_t a = id_of(first), b = id_of(second), both = id_of(first + second);
    if (a < 0 || b < 0 || both < 0) {
      fail(Code::kFormat, "tokenizer.json: model.merges[%zu] joins \"%s\" and \"%s\", but \"%s\" is not in model.vocab.",
           rank, first.c_str(), second.c_str(), (a < 0 ? first : b < 0 ? second : first + second).c_str());
    }
    merges_.insert(pair_key(a, b), {int32_t(rank), both});
  }
}

void Bpe::encode(std::string_view piece, std::vector<int32_t>& out) {
  if (options_.ignore_merges) {
    const auto whole = tokens_.find(piece);
    if (whole != tokens_.end()) return out.push_back(whole->second);
  }
  const bool remember = piece.size() <= kRememberedBytes;
  if (remember) {
    const auto known = remembered_.find(piece);
    if (known != remembered_.end()) {
      const auto [first, last] = known->second;
      out.insert(out.end(), memory_.begin() + first, memory_.begin() + last);
      return;
    }
  }
  spell(piece);
  merge_all();
  const size_t begin = out.size();
  for (const Symbol& symbol : symbols_) {
    if (symbol.id >= 0) out.push_back(symbol.id);
  }
  if (!remember) return;
  if (memory_.size() + (out.size() - begin) > kRememberedIds) {
    memory_.clear();
    remembered_.clear();
  }
  const uint32_t first = uint32_t(memory_.size());
  memory_.insert(memory_.end(), out.begin() + long(begin), out.end());
  remembered_.emplace(piece, std::pair(first, uint32_t(memory_.size())));
}

void Bpe::push(int32_t id) {
  const int32_t at = int32_t(symbols_.size());
  symbols_.push_back({id, at - 1, at + 1});
}

void Bpe::spell(std::string_view piece) {
  if (piece.size() > size_t(INT32_MAX) / 2) fail(Code::kData, "a piece of text of %zu bytes is too long.", piece.size());
  symbols_.clear();
  bool unknown = false;  // an unknown character waits to be written, so that others can join it
  for (size_t at = 0; at < piece.size();) {
    int32_t id;
    uint32_t bytes = 1;
    if (options_.byte_level) {
      id = of_byte_[uint8_t(piece[at])];
    } else {
      const CodePoint c = code_point_at(piece.data() + at);
      const int32_t* found = of_character_.find(c.value);
      id = found ? *found : -1;
      bytes = c.bytes;
    }
    if (id >= 0) {
      if (unknown) push(options_.unk);
      unknown = false;
      push(id);
    } else {
      spell_unknown(piece.substr(at, bytes), unknown);
    }
    at += bytes;
  }
  if (unknown) push(options_.unk);
  if (!symbols_.empty()) symbols_.back().next = -1;
}

void Bpe::spell_unknown(std::string_view unit, bool& unknown_before) {
  const auto missing = [this](char c) { return of_byte_[uint8_t(c)] < 0; };
  if (options_.byte_fallback && std::none_of(unit.begin(), unit.end(), missing)) {
    // The reference leaves a waiting unknown token waiting here, behind these bytes; so does this.
    for (const char c : unit) push(of_byte_[uint8_t(c)]);
    return;
  }
  if (options_.unk < 0) {
    const uint32_t code = options_.byte_level ? uint8_t(unit[0]) : code_point_at(unit.data()).value;
    fail(Code::kData, "the vocabulary cannot spell %s%02X and has no unknown token.",
         options_.byte_level ? "byte 0x" : "character U+", code);
  }
  if (unknown_before && !options_.fuse_unk) push(options_.unk);
  unknown_before = true;
}

/// Puts the pair that starts at `at` on the heap, if it merges.
void Bpe::offer(int32_t at) {
  const int32_t next = symbols_[size_t(at)].next;
  if (next < 0) return;
  const Merge* found = merges_.find(pair_key(symbols_[size_t(at)].id, symbols_[size_t(next)].id));
  if (!found) return;
  heap_.push_back({found->rank, at, found->id});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

void Bpe::merge_all() {
  heap_.clear();
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) {
    const Merge* found = merges_.find(pair_key(symbols_[i].id, symbols_[i + 1].id));
    if (found) heap_.push_back({found->rank, int32_t(i), found->id});
  }
  std::make_heap(heap_.begin(), heap_.end(), Later());
  while (!heap_.empty()) {
    const Candidate best = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    heap_.pop_back();
    merge(best);
  }
}

/// Joins the pair of a candidate, unless one of its halves has meanwhile become part of something else.
void Bpe::merge(const Candidate& best) {
  Symbol& left = symbols_[size_t(best.at)];
  if (left.id < 0 || left.next < 0) return;
  Symbol& right = symbols_[size_t(left.next)];
  const Merge* found = merges_.find(pair_key(left.id, right.id));
  if (!found || found->id != best.id) return;
  left.id = best.id;
  left.next = right.next;
  right.id = -1;
  if (left.next >= 0) symbols_[size_t(left.next)].previous = best.at;
  if (left.previous >= 0) offer(left.previous);
  offer(best.at);
}

}  // namespace hone::text
