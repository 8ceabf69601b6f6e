// Deliberate faults (mutants) that these tests detect: strict does not require a word; it reads the raw response
// instead of the cleaned one; joiners stay between Latin letters; gaps are ignored.
import { describe, expect, test } from "vitest";
import { CONSTRAINTS } from "../../lib/domains/instruction-following/constraints.ts";
import { STRICT } from "../../lib/domains/instruction-following/strict.ts";
import { ResponseText } from "../../lib/domains/instruction-following/text/response-text.ts";

/** A constraint whose checker needs a model that the package does not have. */
const TAGGED = "words:start_verb";

/** The easiest arguments of every constraint. */
const ARGS = {
  N: 1,
  n: 1,
  m: 1,
  small_n: 1,
  relation: "less than",
  frequency: 1,
  letter: "#",
  let_frequency: 9,
  let_relation: "less than",
  capital_frequency: 9,
  capital_relation: "less than",
  num_sentences: 9,
  num_words: 9,
  num_paragraphs: 1,
  nth_paragraph: 1,
  num_bullets: 0,
  num_highlights: 0,
  num_placeholders: 0,
  num_sections: 0,
  n_sent: 1,
  n_words: 1,
  section_spliter: "Part",
  postscript_marker: "P.S.",
  language: "en",
  min_words: 0,
  max_words: 9,
  percentage: 100,
  n_start: 0,
  n_end: 3,
  keyword: ".",
  keywords: ["."],
  forbidden_words: ["cat"],
  word: "cat",
  first_word: ".",
  last_word: "cat",
  end_phrase: ".",
  phrase: "a b c",
  sep: "-",
  options: "yes/no",
  reference_text: "the cat",
  prompt_to_repeat: "A cat",
  keyword1: "a",
  keyword2: "b",
  keyword3: "c",
  keyword4: "d",
  keyword5: "e",
};

/** Texts without a visible letter or digit; the original checkers accept each for some constraint. */
const WORDLESS = [
  ...["\u200b", "\u3164", "\u2800", "\u00ad", "\ufe0f", "\u034f", "\u115f\u1160", "\uffa0", "\u180e", "\0"],
  ...[".", "!", "???", '"."', "_", "___ ___", "#", "😀", "👩‍👩‍👧 👍", "→ ∞ ✓", "\u0301", "\ue000", "\ufffd"],
  ...["* .\n* .", "- \u200b\n- \u200b", "*!* **!**", "[] [.]", "<<.>>", "{}", "[[]]", '[""]', "<.>"],
  ...["...***...", ".\n\n.", ". ****** !", ".-.-.", ". ! ?", "Ⓧ".normalize("NFD").replace(/./u, "\u3164")],
];

/** Texts as short as these cannot follow IFBench's constraints on tables and lists. */
const ids = [...CONSTRAINTS.keys()].filter((id) => id !== TAGGED);

test.each(ids)("%s: a text without a visible word follows nothing", (id) => {
  const check = STRICT.bind(CONSTRAINTS.get(id)!, ARGS);
  expect(WORDLESS.filter((text) => check(new ResponseText(text)))).toEqual([]);
});

const follows = (id: string, args: Readonly<Record<string, unknown>>, text: string): boolean =>
  STRICT.bind(CONSTRAINTS.get(id)!, args)(new ResponseText(text));

describe("characters that show nothing change nothing", () => {
  test.each<[string, string, Record<string, unknown>, string]>([
    ["by a selector", "keywords:forbidden_words", { forbidden_words: ["cat"] }, "my c\ufe0fat"],
    ["with a Cyrillic letter", "keywords:forbidden_words", { forbidden_words: ["cat"] }, "my \u0441at"],
    ["a comma of another width", "punctuation:no_comma", {}, "my cat\uff0c too"],
    ["an exclamation mark of another width", "punctuation:punctuation_exclamation", {}, "my cat\uff01"],
    ["a dot of another width", "punctuation:punctuation_dot", {}, "my cat\uff0e"],
    ["a forbidden word cut in two", "keywords:forbidden_words", { forbidden_words: ["cat"] }, "my c\u200bat"],
    ["by a joiner", "keywords:forbidden_words", { forbidden_words: ["cat"] }, "my c\u200dat"],
    ["by a soft hyphen", "keywords:exclude_word_harder", { keyword: "cat" }, "my c\u00adat"],
    ["words apart by a gap", "format:no_whitespace", {}, "my\u3164cat"],
    ["by another gap", "format:no_whitespace", {}, "my\u2800cat"],
    ["one pair of brackets around all", "detectable_format:square_brackets", {}, "[my\u2800cat\u3164is]"],
    [
      "many words as one",
      "length_constraints:number_words",
      { num_words: 2, relation: "less than" },
      "a\u3164b",
    ],
    [
      "a comma is hidden",
      "keywords:frequency",
      { keyword: "cat", frequency: 1, relation: "less than" },
      "ca\u2060t",
    ],
    ["a changed first word", "repeat:repeat_change", { prompt_to_repeat: "A cat" }, "A\u200b cat"],
    ["a changed word", "copy:repeat_phrase", { phrase: "a b c", small_n: 1 }, "a b\u200b c"],
    ["a mark is no other word", "copy:repeat_phrase", { phrase: "a b c", small_n: 1 }, "a b, c"],
    ["nor is a mark alone", "copy:repeat_phrase", { phrase: "a b c", small_n: 1 }, "a . c"],
    ["two answers that read the same", "combination:two_responses", {}, "a ****** \u2060a"],
  ])("%s (%s)", (_, id, args, text) => expect(follows(id, args, text)).toBe(false));

  test.each<[string, string, Record<string, unknown>, string]>([
    ["Russian", "keywords:existence", { keywords: ["\u0441\u043e\u0440"] }, "\u0441\u043e\u0440 cat"],
    [
      "Persian with its joiner",
      "length_constraints:number_words",
      { num_words: 2, relation: "less than" },
      "می‌خواهم",
    ],
    ["a family", "format:emoji", {}, "We are here 👩‍👩‍👧"],
    ["a heart with its selector", "format:emoji", {}, "We are here ❤️"],
    ["the prompt with its own", "copy:copy", { prompt_to_repeat: "a\u200bb" }, "a\u200bb"],
    ["the prompt without them", "copy:copy", { prompt_to_repeat: "a\u200bb" }, "ab"],
    [
      "a span by its characters",
      "new:copy_span_idx",
      { prompt_to_repeat: "a\u200bbc", n_start: 1, n_end: 3 },
      "\u200bb",
    ],
    ["a span of marks", "new:copy_span_idx", { prompt_to_repeat: "a?!b", n_start: 1, n_end: 3 }, "?!"],
    ["marks of direction", "keywords:existence", { keywords: ["שלום"] }, "\u200fשלום\u200e"],
    ["a number", "format:no_whitespace", {}, "42"],
  ])("%s is honest (%s)", (_, id, args, text) => expect(follows(id, args, text)).toBe(true));
});

describe("the cheapest answers to each kind of element", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["combination:repeat_prompt", { prompt_to_repeat: "Say it." }, "Say it."],
    ["combination:repeat_prompt", { prompt_to_repeat: "Say it." }, "Say it. \u200b!"],
    ["count:counting_composition", { n_sent: 1, n_words: 4 }, "a - - .\n***\na - - .\n***\na - - ."],
    ["count:words_japanese", { N: 2 }, "a . b . c"],
    ["count:words_japanese", { N: 2 }, "a 1 b 2 c"],
    ["count:unique_word_count", { N: 3 }, "a — …"],
    ["count:word_count_range", { min_words: 3, max_words: 9 }, "a _ _"],
    ["ratio:stop_words", { percentage: 50 }, "the _ _"],
    ["ratio:sentence_type", {}, "It is. . Is it?"],
    ["ratio:sentence_balance", {}, "It is. ? !"],
    ["ratio:sentence_words", {}, "it. (?) [!]"],
    ["words:palindrome", {}, "level ".repeat(10)],
    ["words:palindrome", {}, Array.from("abcdefghij", (letter) => letter.repeat(5)).join(" ")],
    ["words:odd_even_syllables", {}, "cat"],
    ["words:paragraph_last_first", {}, "cat\n\ndog"],
    ["sentence:increment", { small_n: 1 }, "! Cat."],
    ["sentence:alliteration_increment", {}, "! Cats can."],
    ["format:parentheses", {}, "a ((((()))))"],
    ["format:quotes", {}, `a "'"."'"`],
    ["format:line_indent", {}, "a\n .\n  ."],
    ["format:quote_unquote", {}, "a"],
    ["format:quote_unquote", {}, '"." a'],
    ["format:list", { sep: "..." }, "a\n...\n..."],
    ["format:thesis", {}, "<i>a</i>."],
    ["format:thesis", {}, "<i>.</i> a"],
    ["format:sub-bullets", {}, "* a\n-"],
    ["format:sub-bullets", {}, "a\n* .\n- b"],
    ["format:no_bullets_bullets", {}, "A. B.\n*\n*"],
    ["format:output_template", {}, "My Answer: My Conclusion: Future Outlook:"],
    ["format:output_template", {}, "My Answer: a\nMy Conclusion: .\nFuture Outlook: b"],
    ["custom:reverse_newline", {}, `Zimbabwe${"\nA".repeat(60)}`],
    ["custom:csv_city", {}, `ID,Country,City,Year,Count${"\n,,,,".repeat(7)}`],
    [
      "custom:csv_special_character",
      {},
      `ProductID,Category,Brand,Price,Stock\n1,"a!",b,2,3${"\n,,,,".repeat(13)}`,
    ],
    [
      "custom:csv_quotes",
      {},
      `"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"${'\n""\t""\t""\t""\t""'.repeat(3)}`,
    ],
    [
      "custom:mcq_count_length",
      {},
      [1, 2, 3, 4].map((n) => `Question ${n}: ${".".repeat(n)}\nA. a\nB. a\nC. a\nD. a\nE. a\n`).join(""),
    ],
    ["repeat:repeat_change", { prompt_to_repeat: "A cat" }, "a cat"],
    ["repeat:repeat_change", { prompt_to_repeat: "A cat" }, ". cat"],
  ])("%s %j: %j is not followed, though the checkers say so", (id, args, text) => {
    const kind = CONSTRAINTS.get(id)!;
    expect(kind.bindAsReference(args)(new ResponseText(text))).toBe(true);
    expect(follows(id, args, text)).toBe(false);
  });
});
