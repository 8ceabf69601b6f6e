// Deliberate faults (mutants) that these tests detect: <= for < in the word range; names match substrings; "?!" stays
// when marks are counted; k starts at 0 in the Japanese words; the slash before pronouns is kept; keyword counts 1,
// 2, 3, 5, 6.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COUNT } from "../../../../lib/domains/instruction-following/ifbench/count.ts";
import { holds, verdict } from "./hand-made.ts";

const KEYWORDS = {
  keyword1: "door",
  keyword2: " bread",
  keyword3: "Blue",
  keyword4: "lamp",
  keyword5: "river",
};
const repeated = (word: string, n: number) => Array(n).fill(word).join(" ");
const EXACT = `door bread bread ${repeated("blue", 3)} ${repeated("lamp", 5)} ${repeated("river", 7)}`;

holds(COUNT, "reference", {
  "count:word_count_range": [
    [true, "one two three", { min_words: 3, max_words: 5 }],
    [true, "one two three four five", { min_words: 3, max_words: 5 }],
    [false, "one two", { min_words: 3, max_words: 5 }],
    [false, "one two three four five six", { min_words: 3, max_words: 5 }],
    [true, "don't stop", { min_words: 3, max_words: 3 }], // three words: don, t, stop
    [true, "well-known a_b 3.14", { min_words: 5, max_words: 5 }], // five words: well, known, a_b, 3, 14
    [true, "— … !", { min_words: 0, max_words: 0 }],
  ],
  "count:unique_word_count": [
    [true, "a b c", { N: 3 }],
    [false, "a b a", { N: 3 }],
    [false, "Cat cat, (cat) CAT.", { N: 2 }],
    [true, "cat cat's", { N: 2 }], // an apostrophe inside a word is kept
    [true, "a b --", { N: 3 }], // punctuation alone is the word ""
    [false, "a b -- ...", { N: 4 }], // the word "" counts once
    [true, "", { N: 0 }],
  ],
  "count:conjunctions": [
    [true, "this and that or those", { small_n: 2 }],
    [false, "this and that and those", { small_n: 2 }],
    [true, "And so it was, but (yet) no", { small_n: 4 }],
    [true, "and And and,", { small_n: 3 }], // three spellings of one word
    [false, "android butter fort", { small_n: 1 }],
    [false, "and/or", { small_n: 1 }],
    [true, "nor for", { small_n: 2 }],
  ],
  "count:person_names": [
    [true, "Emma met Liam.", { N: 2 }],
    [false, "Emma met Emma.", { N: 2 }],
    [false, "emma met LIAM", { N: 1 }],
    [true, "Zoe's (Leo)", { N: 2 }],
    [false, "Emma_Liam", { N: 1 }], // an underscore belongs to a word
    [false, "Leonard, Graceful, Avalon", { N: 1 }],
    [true, "Jonathan-Ryan", { N: 2 }],
  ],
  "count:numbers": [
    [true, "1 2 3", { N: 3 }],
    [true, "1,000 and 3.14", { N: 2 }],
    [true, "no number", { N: 0 }],
    [false, "one 1", { N: 2 }],
    [true, "a1b2", { N: 2 }],
    [true, "1-2", { N: 1 }], // the dash is removed first, which leaves 12
    [true, "٣ apples", { N: 1 }],
    [false, "x² + ½", { N: 1 }],
  ],
  "count:punctuation": [
    [true, "Hi, you: a; b. c! d? e?!"],
    [true, "a.,!?;: !?"],
    [false, "a.,;: !?"], // the interrobang uses up both marks
    [true, "a.,;:! ? ‽"],
    [false, "a.,;:!? ‽"], // "!?" is removed although ‽ is present
    [false, "a.,;:! ?"],
    [false, "a.,!?: ?!"],
    [true, "a.,;: ?!?!"], // the first interrobang is removed, the second leaves both marks
    [false, "a.,;: !?!"], // "?!" is removed, which leaves "!" and no "?"
  ],
  "count:words_japanese": [
    [true, "one 日本 three カナ", { N: 2 }],
    [false, "one two three カナ", { N: 2 }],
    [true, "one two", { N: 5 }],
    [true, "one 12 three — ひらがな", { N: 5 }],
    [true, "one 2 three ... five ②", { N: 2 }], // numbers and punctuation are skipped
    [false, "one 2nd", { N: 2 }],
    [true, "東京 東京", { N: 1 }],
    [true, "a b日", { N: 2 }],
  ],
  "count:pronouns": [
    [true, "I saw him.", { N: 2 }],
    [true, "she/her/hers", { N: 3 }],
    [false, "The table stood.", { N: 1 }],
    [true, "It's MINE!", { N: 2 }],
    [true, "each and every one, both", { N: 2 }],
    [false, "mythic usage", { N: 1 }],
    [true, "this this this", { N: 3 }],
  ],
  "count:keywords_multiple": [
    [true, EXACT, KEYWORDS],
    [true, EXACT.toUpperCase(), KEYWORDS],
    [false, `${EXACT} river`, KEYWORDS],
    [false, EXACT.replace("door ", ""), KEYWORDS],
    [true, EXACT.replace("door", "doors"), KEYWORDS], // a part of a word counts
    [false, EXACT.replace("blue", "green"), KEYWORDS],
    [true, `${EXACT}.`.replaceAll(" ", ""), KEYWORDS],
  ],
});

holds(COUNT, "strict", {
  "count:unique_word_count": [
    [false, "a b --", { N: 3 }],
    [true, "a b c --", { N: 3 }],
  ],
  "count:conjunctions": [
    [false, "and And and,", { small_n: 2 }],
    [true, "and But or,", { small_n: 3 }],
  ],
  "count:words_japanese": [
    [false, "one two", { N: 5 }],
    [true, "a b c d 東", { N: 5 }],
  ],
});

describe("arguments", () => {
  test.each([
    ["count:words_japanese", { N: 0 }],
    ["count:numbers", {}],
    ["count:numbers", { N: 2.5 }],
    ["count:word_count_range", { min_words: 3 }],
    ["count:pronouns", { N: -1 }],
    ["count:keywords_multiple", { ...KEYWORDS, keyword3: " " }],
  ])("%s with %j cannot be graded", (id, args) => {
    expect(() => COUNT[id]!.bindAsReference(args)).toThrow();
  });
});

test("any mix of listed names is counted once each", () => {
  const names = ["Emma", "Liam", "Zoe", "Leo", "Nora", "Ryan", "Stella"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...names, "Bob", "emma", "Norah")), fc.nat(8), (words, N) => {
      const distinct = names.filter((name) => words.includes(name)).length;
      expect(verdict(COUNT, "count:person_names", "reference", [true, words.join(", "), { N }])).toBe(
        distinct >= N,
      );
    }),
  );
});

test("numbers are counted as they are written down between words", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(), fc.constantFrom("x", "of"))), (parts) => {
      const N = parts.filter((part) => typeof part === "number").length;
      expect(verdict(COUNT, "count:numbers", "reference", [true, parts.join(" "), { N }])).toBe(true);
      expect(verdict(COUNT, "count:numbers", "reference", [true, parts.join(" "), { N: N + 1 }])).toBe(false);
    }),
  );
});
