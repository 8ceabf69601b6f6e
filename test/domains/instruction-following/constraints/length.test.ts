import { expect, test } from "vitest";
import { countParts, LENGTH } from "../../../../lib/domains/instruction-following/constraints/length.ts";
import { checkRefusals, checkVerdicts } from "../verdicts.ts";

const NTH = "length_constraints:nth_paragraph_first_word";
const nth = (num_paragraphs: number, nth_paragraph: number, first_word: string) => ({
  num_paragraphs,
  nth_paragraph,
  first_word,
});

checkVerdicts(LENGTH, [
  [
    "enough sentences",
    "length_constraints:number_sentences",
    { num_sentences: 2, relation: "at least" },
    "Mr. A. B. came. He left.",
    true,
  ],
  [
    "too many sentences",
    "length_constraints:number_sentences",
    { num_sentences: 2, relation: "less than" },
    "One. Two.",
    false,
  ],
  [
    "words of \\w",
    "length_constraints:number_words",
    { num_words: 4, relation: "at least" },
    "it's a-b",
    true,
  ],
  [
    "marks are no words",
    "length_constraints:number_words",
    { num_words: 2, relation: "at least" },
    "one - !",
    false,
  ],
  [
    "none at all are fewer",
    "length_constraints:number_words",
    { num_words: 2, relation: "less than" },
    "!a",
    true,
  ],
  [
    "lines are no words",
    "length_constraints:number_words",
    { num_words: 3, relation: "at least" },
    "a _ __ _",
    [true, false],
  ],
  [
    "lines are words too",
    "length_constraints:number_words",
    { num_words: 2, relation: "less than" },
    "a _",
    false,
  ],
  [
    "marks are no sentences",
    "length_constraints:number_sentences",
    { num_sentences: 3, relation: "at least" },
    "Well! ! ?",
    [true, false],
  ],
  [
    "a mark is no paragraph",
    "length_constraints:number_paragraphs",
    { num_paragraphs: 2 },
    "a\n***\n.",
    [true, false],
  ],
  ["nor is it left out", "length_constraints:number_paragraphs", { num_paragraphs: 1 }, "a\n***\n.", false],
  ["two of words", "paragraphs:paragraphs2", {}, "a\n\n--", [true, false]],
  [
    "one of marks",
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 2, nth_paragraph: 1, first_word: "a" },
    "a b\n\n...",
    [true, false],
  ],
  ["by three asterisks", "length_constraints:number_paragraphs", { num_paragraphs: 2 }, "a\n***\nb", true],
  [
    "blank ends do not count",
    "length_constraints:number_paragraphs",
    { num_paragraphs: 2 },
    "***a***b***",
    true,
  ],
  ["a blank middle", "length_constraints:number_paragraphs", { num_paragraphs: 2 }, "a***\n***b", false],
  ["one too few", "length_constraints:number_paragraphs", { num_paragraphs: 2 }, "a\n\nb", false],
  ["two by asterisks", "paragraphs:paragraphs", {}, "a *** b", true],
  ["three by asterisks", "paragraphs:paragraphs", {}, "a *** b *** c", false],
  ["two by an empty line", "paragraphs:paragraphs2", {}, "a\n\nb\n\n", true],
  ["a blank one between", "paragraphs:paragraphs2", {}, "a\n\n\n\nb", false],
  ["first word of the second", NTH, nth(2, 2, "It"), "No.\n\nit's so", true],
  ["marks before it", NTH, nth(1, 1, "it"), "''\"it, so", true],
  ["the number of paragraphs", NTH, nth(3, 2, "it"), "No.\n\nit", false],
  ["beyond the last", NTH, nth(2, 3, "it"), "No.\n\nit", false],
  ["a blank one is counted by position only", NTH, nth(2, 2, "it"), "No.\n\n\n\nit", false],
  ["and found behind it", NTH, nth(2, 1, "no"), "no\n\n \n\nit", true],
  ["lower-case words", "count:lowercase_counting", { N: 2 }, "One two THREE four5 six", true],
  ["too many lower-case words", "count:lowercase_counting", { N: 1 }, "two six", false],
  [
    "three by two by three",
    "count:counting_composition",
    { n_sent: 2, n_words: 3 },
    "ab cd. ef gh.\n***\nab cd. ef gh.\n***\nab cd. ef gh.",
    true,
  ],
  [
    "one word more",
    "count:counting_composition",
    { n_sent: 1, n_words: 3 },
    "a b.\n***\nc d.\n***\ne f g.",
    false,
  ],
  ["two paragraphs", "count:counting_composition", { n_sent: 1, n_words: 3 }, "a b.\n***\nc d.", false],
  [
    "a blank end has no sentences",
    "count:counting_composition",
    { n_sent: 1, n_words: 3 },
    "***a b.***c d.***e f.",
    false,
  ],
  ["all different", "count:count_unique", {}, "One one, two.", true],
  ["a mark twice", "count:count_unique", {}, "One, two, three", false],
]);

checkRefusals(LENGTH, [
  ["length_constraints:number_sentences", { num_sentences: 2 }],
  ["length_constraints:number_words", { relation: "at least" }],
  ["length_constraints:number_words", { num_words: -1, relation: "at least" }],
  ["length_constraints:number_paragraphs", {}],
  [NTH, { num_paragraphs: 2, nth_paragraph: 0, first_word: "a" }],
  [NTH, { num_paragraphs: 2, nth_paragraph: 1 }],
  ["count:lowercase_counting", { N: 0 }],
  ["count:counting_composition", { n_sent: 1 }],
]);

test.each([
  [["a", "b"], 2],
  [["", "a", " "], 1],
  [["a", "", "b"], undefined],
  [[""], 0],
  [["", ""], 0],
])("parts %j count %j", (parts, expected) => {
  expect(countParts(parts)).toBe(expected);
});
