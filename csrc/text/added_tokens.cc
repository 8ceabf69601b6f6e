#include "text/added_tokens.h"

#include <algorithm>

#include "core/utf8.h"
#include "text/unicode.h"

namespace hone::text {
namespace {

bool has_class(uint32_t c, CharClass wanted) { return char_classes()[c] & wanted; }

/// True if neither the character before text[begin, end) nor the one after it is a word character.
bool stands_alone(std::string_view text, size_t begin, size_t end) {
  const bool before = begin > 0 && has_class(code_point_before(text.data() + begin).value, kWord);
  const bool behind = end < text.size() && has_class(code_point_at(text.data() + end).value, kWord);
  return !before && !behind;
}

size_t before_space(std::string_view text, size_t low, size_t at) {
  while (at > low) {
    const CodePoint c = code_point_before(text.data() + at);
    if (!has_class(c.value, kSpace)) break;
    at -= c.bytes;
  }
  return std::max(at, low);
}

size_t behind_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const CodePoint c = code_point_at(text.data() + at);
    if (!has_class(c.value, kSpace)) break;
    at += c.bytes;
  }
  return at;
}

}  // namespace

void TokenFinder::add(const AddedToken* token, std::string_view spelling) {
  int32_t node = 0;
  first_[uint8_t(spelling[0])] = true;
  for (const char byte : spelling) {
    const uint64_t edge = pair_key(node, uint8_t(byte));
    if (edges_.insert(edge, int32_t(ends_.size()))) ends_.push_back(nullptr);
    node = *edges_.find(edge);
  }
  ends_[size_t(node)] = token;
}

const AddedToken* TokenFinder::longest(std::string_view text, size_t at, size_t& end) const {
  const AddedToken* found = nullptr;
  int32_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const int32_t* next = edges_.find(pair_key(node, uint8_t(text[i])));
    if (!next) break;
    node = *next;
    if (ends_[size_t(node)]) {
      found = ends_[size_t(node)];
      end = i + 1;
    }
  }
  return found;
}

void TokenFinder::split(std::string_view text, bool spell_special, std::vector<Stretch>& out) const {
  size_t done = 0, end = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* const token = first_[uint8_t(text[at])] ? longest(text, at, end) : nullptr;
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at;
    at = end;  // a rejected match is skipped as a whole
    if ((spell_special && token->special) || (token->single_word && !stands_alone(text, begin, end))) continue;
    if (token->lstrip) begin = before_space(text, done, begin);
    if (token->rstrip) end = behind_space(text, end);
    if (done < begin) out.push_back({nullptr, text.substr(done, begin - done)});
    out.push_back({token, text.substr(begin, end - begin)});
    done = end;
  }
  if (done < text.size()) out.push_back({nullptr, text.substr(done)});
}

}  // namespace hone::text
