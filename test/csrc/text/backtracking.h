// A backtracking matcher that interprets a pre-tokenizer's pattern: slow, but a direct implementation of
// regular expressions. Characters are code points.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/utf8.h"
#include "text/unicode.h"

namespace hone::test {

class Backtracking {
 public:
  explicit Backtracking(const std::string& pattern) : pattern_(pattern) { root_ = alternatives(); }

  /// End of the match at code point `at`, by the first alternative that matches; -1 if none does.
  long match(const std::vector<uint32_t>& text, size_t at) const {
    long end = -1;
    root_->run(text, at, false, [&](size_t stop) {
      end = long(stop);
      return true;
    });
    return end;
  }

 private:
  using Text = std::vector<uint32_t>;
  using Then = std::function<bool(size_t)>;
  /// Tries each way to match from `at`, in order of preference, until `then` accepts one.
  struct Node {
    std::function<bool(const Text&, size_t, bool any_case, const Then&)> run;
  };
  using Ref = std::shared_ptr<Node>;
  using Set = std::function<bool(uint32_t, bool any_case)>;

  bool take(const std::string& word) {
    if (pattern_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  bool more() const { return at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != ')'; }

  Ref alternatives() {
    std::vector<Ref> all{sequence()};
    while (take("|")) all.push_back(sequence());
    return std::make_shared<Node>(Node{[all](const Text& t, size_t i, bool c, const Then& then) {
      for (const Ref& each : all) {
        if (each->run(t, i, c, then)) return true;
      }
      return false;
    }});
  }

  Ref sequence() {
    std::vector<Ref> parts;
    while (more()) parts.push_back(quantified());
    return std::make_shared<Node>(Node{[parts](const Text& t, size_t i, bool c, const Then& then) {
      std::function<bool(size_t, size_t)> from = [&](size_t k, size_t at) {
        return k == parts.size() ? then(at) : parts[k]->run(t, at, c, [&](size_t next) { return from(k + 1, next); });
      };
      return from(0, i);
    }});
  }

  Ref quantified() {
    const Ref one = atom();
    size_t low = 1, high = 1;
    if (take("?")) low = 0;
    else if (take("*")) low = 0, high = size_t(-1);
    else if (take("+")) high = size_t(-1);
    else if (take("{1,3}")) high = 3;
    const bool possessive = take("+");
    return std::make_shared<Node>(Node{[=](const Text& t, size_t i, bool c, const Then& then) {
      std::function<bool(size_t, size_t)> from = [&](size_t count, size_t at) {
        const bool longer = count < high && one->run(t, at, c, [&](size_t next) { return from(count + 1, next); });
        return longer || (count >= low && then(at));
      };
      if (!possessive) return from(0, i);
      size_t end = 0;  // where the most preferred match ends
      std::function<bool(size_t, size_t)> most = [&](size_t count, size_t at) {
        if (count < high && one->run(t, at, c, [&](size_t next) { return most(count + 1, next); })) return true;
        end = at;
        return count >= low;
      };
      return most(0, i) && then(end);
    }});
  }

  Ref atom() {
    if (take("(?i:")) {
      const Ref inside = alternatives();
      take(")");
      return std::make_shared<Node>(Node{[inside](const Text& t, size_t i, bool, const Then& then) {
        return inside->run(t, i, true, then);
      }});
    }
    if (take("(?!")) {
      const Ref inside = alternatives();
      take(")");
      return std::make_shared<Node>(Node{[inside](const Text& t, size_t i, bool c, const Then& then) {
        return !inside->run(t, i, c, [](size_t) { return true; }) && then(i);
      }});
    }
    const Set set = take("[") ? bracket() : single();
    return std::make_shared<Node>(Node{[set](const Text& t, size_t i, bool c, const Then& then) {
      return i < t.size() && set(t[i], c) && then(i + 1);
    }});
  }

  Set bracket() {
    const bool negated = take("^");
    std::vector<Set> any;
    while (!take("]")) any.push_back(range());
    return [any, negated](uint32_t c, bool any_case) {
      bool found = false;
      for (const Set& each : any) found = found || each(c, any_case);
      return found != negated;
    };
  }

  /// Parses one element of a bracket expression: a class, a character, or two characters with "-" between
  /// them.
  Set range() {
    const size_t start = at_;
    const uint32_t first = literal();
    if (pattern_[start] == '\\' || !take("-")) {
      at_ = start;
      return single();
    }
    const uint32_t last = literal();
    return [first, last](uint32_t c, bool) { return c >= first && c <= last; };
  }

  /// The next character of the pattern.
  uint32_t literal() {
    const CodePoint next = code_point_at(pattern_.data() + at_);
    at_ += next.bytes;
    return next.value;
  }

  Set single() {
    const struct { const char* name; uint8_t classes; } kClasses[] = {
        {"\\p{L}\\p{M}", text::kLetter | text::kUpperish | text::kLowerish}, {"\\p{P}\\p{S}", text::kSymbol},
        {"\\p{L}", text::kLetter}, {"\\p{N}", text::kNumber}, {"\\s", text::kSpace},
        // The patterns contain these classes only in these groups.
        {"\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}", text::kUpperish}, {"\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}", text::kLowerish}};
    for (const auto& [name, classes] : kClasses) {
      if (take(name)) return [classes = classes](uint32_t c, bool) { return (text::char_classes()[c] & classes) != 0; };
    }
    if (take("\\S")) return [](uint32_t c, bool) { return !(text::char_classes()[c] & text::kSpace); };
    const bool line_end = pattern_.compare(at_, 2, "\\r") == 0 || pattern_.compare(at_, 2, "\\n") == 0;
    if (!line_end) take("\\");
    const uint32_t wanted = take("\\r") ? '\r' : take("\\n") ? '\n' : literal();
    return [wanted](uint32_t c, bool any_case) {
      const bool folded = any_case && wanted >= 'a' && wanted <= 'z' && (c == wanted - 32 || (wanted == 's' && c == 0x17F));
      return c == wanted || folded;
    };
  }

  std::string pattern_;
  size_t at_ = 0;
  Ref root_;
};

}  // namespace hone::test
