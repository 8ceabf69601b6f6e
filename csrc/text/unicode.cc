#include "text/unicode.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/utf8.h"

namespace hone::text {
namespace {

struct ClassRun {
  uint32_t first, last;
  uint8_t value;
};
struct Part {
  uint32_t whole, part;
};
struct Pair {
  uint32_t first, second, composed;
};

#include "text/unicode_tables.inc"

// Hangul syllables are composed by arithmetic. Source: The Unicode Standard, section 3.12.
constexpr uint32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

template <size_t N>
std::vector<uint8_t> expanded(const ClassRun (&runs)[N]) {
  std::vector<uint8_t> out(0x110000);
  for (const ClassRun& run : runs) std::fill(out.begin() + run.first, out.begin() + run.last + 1, run.value);
  return out;
}

struct Mark {
  uint32_t value;
  uint8_t rank;  // order of the canonical combining class; 0 for starters
};

class Normalizer {
 public:
  Normalizer() : ranks_(expanded(kMarkRanks)) {
    for (const Part& row : kDecompositions) parts_[row.whole].push_back(row.part);
    for (const Pair& row : kCompositions) composed_[key(row.first, row.second)] = row.composed;
  }

  void decompose(uint32_t c, std::vector<Mark>& out) const {
    if (c - kSyllables < kSyllableCount) {
      const uint32_t index = c - kSyllables, tail = index % kTailCount;
      out.push_back({kLeads + index / (kVowelCount * kTailCount), 0});
      out.push_back({kVowels + index % (kVowelCount * kTailCount) / kTailCount, 0});
      if (tail) out.push_back({kTails + tail, 0});
      return;
    }
    const auto found = parts_.find(c);
    if (found == parts_.end()) {
      out.push_back({c, ranks_[c]});
      return;
    }
    for (const uint32_t part : found->second) out.push_back({part, ranks_[part]});
  }

  /// The composition of two characters; 0 if they do not compose.
  uint32_t compose(uint32_t first, uint32_t second) const {
    if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
      return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
    }
    const bool open = first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0;
    if (open && second > kTails && second < kTails + kTailCount) return first + (second - kTails);
    const auto found = composed_.find(key(first, second));
    return found == composed_.end() ? 0 : found->second;
  }

 private:
  static uint64_t key(uint32_t first, uint32_t second) { return uint64_t(first) << 32 | second; }

  std::vector<uint8_t> ranks_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> parts_;
  std::unordered_map<uint64_t, uint32_t> composed_;
};

const Normalizer& normalizer() {
  static const Normalizer one;
  return one;
}

/// Sorts each run of marks between starters by combining class; stable.
void sort_marks(std::vector<Mark>& all) {
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].rank) ++end;
    std::stable_sort(all.begin() + long(i), all.begin() + long(end),
                     [](const Mark& a, const Mark& b) { return a.rank < b.rank; });
    i = end + 1;
  }
}

void compose_into(std::string& out, std::vector<Mark>& all) {
  constexpr size_t kNone = size_t(-1);
  size_t starter = kNone, kept = 0;
  uint8_t last = 0;  // rank of the last kept mark after the starter; 0 right after it
  for (const Mark mark : all) {
    const bool adjacent = starter != kNone && kept == starter + 1;
    const bool open = starter != kNone && (adjacent || (mark.rank && last < mark.rank));
    const uint32_t joined = open ? normalizer().compose(all[starter].value, mark.value) : 0;
    if (joined) {
      all[starter].value = joined;
      continue;
    }
    if (!mark.rank) starter = kept;
    last = mark.rank;
    all[kept++] = mark;
  }
  for (size_t i = 0; i < kept; ++i) append_utf8(out, all[i].value);
}

}  // namespace

const uint8_t* char_classes() {
  static const std::vector<uint8_t> table = expanded(kClassRuns);
  return table.data();
}

std::string nfc(std::string_view text) {
  const uint8_t* const classes = char_classes();
  const char* const begin = text.data();
  std::string out;
  std::vector<Mark> segment;
  // previous: the character before `at`, which is a boundary if it is not active
  size_t copied = 0, previous = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(begin + at);
    if (!(classes[c.value] & kActive)) {
      previous = at;
      at += c.bytes;
      continue;
    }
    // A segment: the boundary character before the active ones, and all characters up to the next boundary.
    out.append(text, copied, previous - copied);
    segment.clear();
    size_t end = previous;
    while (end < text.size()) {
      const CodePoint each = code_point_at(begin + end);
      if (end > at && !(classes[each.value] & kActive)) break;
      normalizer().decompose(each.value, segment);
      end += each.bytes;
    }
    sort_marks(segment);
    compose_into(out, segment);
    copied = previous = at = end;
  }
  out.append(text, copied);
  return out;
}

}  // namespace hone::text
