// Compares the search for added tokens with trying every token at every place. Faults put into the code:
// shortest match; stripping past the previous token; tokens found inside a skipped one; the test for whole
// words on one side only.
#include "text/added_tokens.h"

#include <algorithm>

#include "check.h"
#include "text/processor_time.h"

namespace text_added_tokens_test {

using namespace hone::test;
using hone::text::AddedToken;
using hone::text::Stretch;
using hone::text::TokenFinder;

namespace {

AddedToken token(int id, const char* content) { return {id, content, false, false, false, false, true}; }

/// The stretches of a text: added tokens as "[id:text]", text between them as "{text}".
std::string split(const std::vector<AddedToken>& tokens, const std::string& text, bool spell = false) {
  TokenFinder finder;
  for (const AddedToken& t : tokens) finder.add(&t, t.content);
  std::vector<Stretch> stretches;
  finder.split(text, spell, stretches);
  std::string out;
  for (const Stretch& s : stretches) {
    const std::string content(s.text);
    out += s.token ? "[" + std::to_string(s.token->id) + ":" + content + "]" : "{" + content + "}";
  }
  return out;
}

std::string split_by_trying(const std::vector<AddedToken>& tokens, const std::string& text) {
  std::string out, plain;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* best = nullptr;
    for (const AddedToken& t : tokens) {
      if (text.compare(at, t.content.size(), t.content) == 0 && (!best || t.content.size() > best->content.size())) best = &t;
    }
    if (!best) {
      plain += text[at++];
      continue;
    }
    if (!plain.empty()) out += "{" + plain + "}";
    plain.clear();
    out += "[" + std::to_string(best->id) + ":" + best->content + "]";
    at += best->content.size();
  }
  return plain.empty() ? out : out + "{" + plain + "}";
}

}  // namespace

TEST(the_leftmost_and_of_those_the_longest_is_found) {
  const std::vector<AddedToken> tokens = {token(0, "<s>"), token(1, "<s><s>"), token(2, "s>"), token(3, "a"), token(4, "aab")};
  EXPECT_EQ(split(tokens, "x<s><s><s>y"), "{x}[1:<s><s>][0:<s>]{y}");
  EXPECT_EQ(split(tokens, "aaab"), "[3:a][4:aab]");
  EXPECT_EQ(split(tokens, ""), "");
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int64_t n = random_int(0, 20); n > 0; --n) text += "<s>ab"[random_int(0, 4)];
    EXPECT_EQ(split(tokens, text), split_by_trying(tokens, text));
  }
}

TEST(stripping_takes_white_space_along_but_never_another_token) {
  std::vector<AddedToken> tokens = {token(0, "<l>"), token(1, "<r>"), token(2, "<b>")};
  tokens[0].lstrip = tokens[2].lstrip = true;
  tokens[1].rstrip = tokens[2].rstrip = true;
  EXPECT_EQ(split(tokens, "a \n<l> b"), "{a}[0: \n<l>]{ b}");
  EXPECT_EQ(split(tokens, "a <r> \xE3\x80\x80" "b"), "{a }[1:<r> \xE3\x80\x80]{b}");
  EXPECT_EQ(split(tokens, "  <b>  "), "[2:  <b>  ]");
  EXPECT_EQ(split(tokens, "<r>  <l>"), "[1:<r>  ][0:<l>]");
  EXPECT_EQ(split(tokens, "<b> <b> x"), "[2:<b> ][2:<b> ]{x}");
}

TEST(a_single_word_stands_alone) {
  std::vector<AddedToken> tokens = {token(0, "tok")};
  tokens[0].single_word = true;
  EXPECT_EQ(split(tokens, "tok atok toka tok! (tok)"), "[0:tok]{ atok toka }[0:tok]{! (}[0:tok]{)}");
  EXPECT_EQ(split(tokens, "tok_ tok\xCC\x81 \xC3\xA9tok 1tok toktok"), "{tok_ tok\xCC\x81 \xC3\xA9tok 1tok toktok}");
}

TEST(special_tokens_can_be_left_as_they_are_written) {
  std::vector<AddedToken> tokens = {token(0, "<s>"), token(1, "<t>"), token(2, "s>")};
  tokens[1].special = tokens[2].special = false;
  EXPECT_EQ(split(tokens, "<s><t>s>", true), "{<s>}[1:<t>][2:s>]");
  EXPECT_EQ(split(tokens, "<s><t>s>", false), "[0:<s>][1:<t>][2:s>]");
}

TEST(long_runs_of_white_space_are_walked_once) {
  std::vector<AddedToken> tokens = {token(0, "<b>"), token(1, "   ")};
  tokens[0].lstrip = tokens[0].rstrip = true;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "<b>" + std::string(1000, '\n');
  const double start = processor_seconds();
  const std::string found = split(tokens, text);
  EXPECT_TRUE(processor_seconds() - start < 10);
  EXPECT_EQ(std::count(found.begin(), found.end(), '['), 1000);
  EXPECT_EQ(std::count(found.begin(), found.end(), '{'), 0);
}

}  // namespace text_added_tokens_test
