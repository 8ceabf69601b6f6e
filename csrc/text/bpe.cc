#include "text/bpe.h"

#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "core/utf8.h"

namespace hone::text {
namespace {

/// The name of a byte's token, e.g. "<0x0A>".
std::string byte_token(int byte) {
  char name[8];
  std::snprintf(name, sizeof name, "<0x%02X>", byte);
  return name;
}

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
  // Backwards, so that if a merge is listed twice, its last place counts, since only the first insertion has
  // an effect.
  for (size_t rank = merges.size(); rank-- > 0;) {
    const auto& [first, second] = merges[rank];
    const int32_t a = id_of(first), b = id_of(second), both = id_of(first + second);
    if (a < 0 || b < 0 || both < 0) {
      fail(Code::kFormat, "tokenizer.json: model.merges[%zu] joins \"%s\" and \"%s\", but \"%s\" is not in model.vocab.",
           rank, first.c_str(), second.c_str(), (a < 0 ? first : b < 0 ? second : first + second).c_str());
    }
    merger_.add(a, b, int32_t(rank), both);
  }
}

void Bpe::encode(std::string_view piece, std::vector<int32_t>& out) {
  if (options_.ignore_merges) {
    const auto whole = tokens_.find(piece);
    if (whole != tokens_.end()) return out.push_back(whole->second);
  }
  if (memory_.recall(piece, out)) return;
  spell(piece);
  const size_t begin = out.size();
  merger_.merge(out);
  memory_.remember(piece, out.data() + begin, out.size() - begin);
}

void Bpe::spell(std::string_view piece) {
  if (piece.size() > size_t(INT32_MAX) / 2) fail(Code::kData, "a piece of text of %zu bytes is too long.", piece.size());
  merger_.clear();
  bool unknown = false;  // an unknown token is pending, which further unknown characters may join
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
      if (unknown) merger_.push(options_.unk);
      unknown = false;
      merger_.push(id);
    } else {
      spell_unknown(piece.substr(at, bytes), unknown);
    }
    at += bytes;
  }
  if (unknown) merger_.push(options_.unk);
}

void Bpe::spell_unknown(std::string_view unit, bool& unknown_before) {
  const auto missing = [this](char c) { return of_byte_[uint8_t(c)] < 0; };
  if (options_.byte_fallback && std::none_of(unit.begin(), unit.end(), missing)) {
    // Like Hugging Face's tokenizers, keeps a pending unknown token pending after these bytes.
    for (const char c : unit) merger_.push(of_byte_[uint8_t(c)]);
    return;
  }
  if (options_.unk < 0) {
    const uint32_t code = options_.byte_level ? uint8_t(unit[0]) : code_point_at(unit.data()).value;
    fail(Code::kData, "the vocabulary cannot spell %s%02X and has no unknown token.",
         options_.byte_level ? "byte 0x" : "character U+", code);
  }
  if (unknown_before && !options_.fuse_unk) merger_.push(options_.unk);
  unknown_before = true;
}

}  // namespace hone::text
