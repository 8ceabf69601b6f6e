#include "text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/utf8.h"
#include "text/normalizer.h"
#include "text/unicode.h"

namespace hone::text {

void PreTokenizer::split(std::string_view text, bool first, std::string& scratch,
                         std::vector<std::string_view>& pieces) const {
  pieces.clear();
  if (text.empty()) return;
  pieces.push_back(text);
  std::vector<std::string_view> before;
  std::vector<Match> matches;
  for (const Step& step : rules_.steps) {
    if (step.kind == Step::Kind::kMetaspace || step.kind == Step::Kind::kPrefixSpace) {
      rewrite(step, first, scratch, pieces);
      continue;
    }
    before.swap(pieces);
    pieces.clear();
    for (const std::string_view piece : before) {
      if (step.kind == Step::Kind::kScan) {
        isolate(step.scan, piece, step.behavior == Behavior::kIsolated, pieces);
        continue;
      }
      matches.clear();
      find(step, piece, matches);
      cut(piece, matches, step.behavior, pieces);
    }
  }
}

/// Appends the matches of a pattern as pieces and, if `gaps`, the text between them too.
void PreTokenizer::isolate(Scan scan, std::string_view text, bool gaps, std::vector<std::string_view>& pieces) {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = scan(text, at);
    if (end == at) {
      at += code_point_at(text.data() + at).bytes;
      continue;
    }
    if (gaps && done < at) pieces.push_back(text.substr(done, at - done));
    pieces.push_back(text.substr(at, end - at));
    done = at = end;
  }
  if (gaps && done < text.size()) pieces.push_back(text.substr(done));
}

void PreTokenizer::rewrite(const Step& step, bool first, std::string& scratch, std::vector<std::string_view>& pieces) {
  std::string out;  // a separate string, since the pieces may be views of scratch
  std::vector<size_t> ends;
  for (const std::string_view piece : pieces) {
    if (step.kind == Step::Kind::kPrefixSpace) {
      if (piece[0] != ' ') out += ' ';
      out.append(piece);
    } else {
      const bool here = step.prepend == Step::Prepend::kAlways ||
                        (step.prepend == Step::Prepend::kFirst && first && ends.empty());
      const std::string text = replaced(piece, " ", step.literal);
      if (here && text.compare(0, step.literal.size(), step.literal) != 0) out += step.literal;
      out += text;
    }
    ends.push_back(out.size());
  }
  scratch = std::move(out);
  size_t begin = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    pieces[i] = std::string_view(scratch).substr(begin, ends[i] - begin);
    begin = ends[i];
  }
}

void PreTokenizer::find(const Step& step, std::string_view text, std::vector<Match>& matches) {
  if (step.kind == Step::Kind::kLiteral) {
    const size_t size = step.literal.size();
    for (size_t at = text.find(step.literal); at != text.npos; at = text.find(step.literal, at + size)) {
      matches.push_back({at, at + size});
    }
    return;
  }
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text.data() + at);
    if (char_classes()[c.value] & kNumber) matches.push_back({at, at + c.bytes});
    at += c.bytes;
  }
}

/// Appends the matches and the gaps between them as pieces, joining or dropping them as `behavior` says.
void PreTokenizer::cut(std::string_view text, const std::vector<Match>& matches, Behavior behavior,
                       std::vector<std::string_view>& pieces) {
  struct Part {
    size_t begin, end;
    bool match;
  };
  std::vector<Part> parts;
  size_t done = 0;
  for (const Match& m : matches) {
    if (done < m.begin) parts.push_back({done, m.begin, false});
    parts.push_back({m.begin, m.end, true});
    done = m.end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), false});

  const bool backwards = behavior == Behavior::kMergedWithNext;
  if (backwards) std::reverse(parts.begin(), parts.end());
  std::vector<Match> kept;
  bool previous = false;
  for (const Part& part : parts) {
    const bool merges = behavior == Behavior::kContiguous ? part.match == previous
                        : behavior == Behavior::kIsolated || behavior == Behavior::kRemoved
                            ? false
                            : part.match && !previous;
    previous = part.match;
    if (behavior == Behavior::kRemoved && part.match) continue;
    if (!merges || kept.empty()) kept.push_back({part.begin, part.end});
    else if (backwards) kept.back().begin = part.begin;
    else kept.back().end = part.end;
  }
  if (backwards) std::reverse(kept.begin(), kept.end());
  for (const Match& m : kept) pieces.push_back(text.substr(m.begin, m.end - m.begin));
}

}  // namespace hone::text
