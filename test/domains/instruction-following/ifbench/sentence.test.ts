// Deliberate faults (mutants) that these tests detect: alliteration is counted by pairs; >= for > between sentences;
// "at least" for the increment of words; the keyword matches a part of a word; sentence N - 1; a keyword is read as a
// pattern.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SENTENCE } from "../../../../lib/domains/instruction-following/ifbench/sentence.ts";
import { holds, verdict } from "./hand-made.ts";

holds(SENTENCE, "reference", {
  "sentence:alliteration_increment": [
    [true, "No alliteration. Some semblance here. Big bad bears bark."], // 0, 2, 4 alliterative words
    [false, "Big bad. Cat dog."],
    [false, "Big bad. Small sun."], // equal length is not longer
    [true, "One."],
    [true, "Go on. Many men mix. Ten tall trees, two toads."], // 0, 3, 5 alliterative words
    [true, '"Dull" owl. (Big) "bad" wolf.'], // marks before words are removed
    [false, "Aa ab, cc cd. Aa ab ac."], // two pairs count 4, a run of three counts 3
    [true, "Aa ab ac. Aa ab, cc cd."],
    [true, "Go. Été élan."],
  ],
  "sentence:increment": [
    [true, "One. One two three. One two three four five.", { small_n: 2 }],
    [false, "One. One two three. One two three four.", { small_n: 2 }],
    [true, "Just one.", { small_n: 4 }],
    [true, "A b. C - d.", { small_n: 0 }], // a single mark is not a word
    [false, "One two. Three.", { small_n: 1 }],
    [true, "Hi! Well-known cats.", { small_n: 1 }],
    [false, "Hi. Go on then, you.", { small_n: 2 }],
  ],
  "sentence:keyword": [
    [true, "No. The cat sat.", { word: "cat", N: 2 }],
    [false, "The cat sat. No.", { word: "cat", N: 2 }],
    [false, "No. The cats sat.", { word: "cat", N: 2 }],
    [true, "No. CAT-like.", { word: "cat", N: 2 }],
    [false, "The cat.", { word: "cat", N: 2 }],
    [false, "Use cxx.", { word: "c..", N: 1 }], // the word is plain text, not a pattern
    [false, "Use C++ now.", { word: "C++", N: 1 }], // \b after "+" needs a letter next
    [true, "Use C++x now.", { word: "C++", N: 1 }],
    [false, "écat", { word: "cat", N: 1 }],
  ],
});

holds(SENTENCE, "strict", {
  "sentence:alliteration_increment": [
    [false, "Big bad bears."],
    [true, "Go on. Big bad bears."],
  ],
  "sentence:increment": [
    [false, "Just one.", { small_n: 4 }],
    [true, "Just. One two.", { small_n: 1 }],
  ],
});

test.each([
  ["sentence:keyword", { word: "cat" }],
  ["sentence:keyword", { word: "", N: 1 }],
  ["sentence:keyword", { word: "cat", N: 0 }],
  ["sentence:increment", {}],
])("%s with %j cannot be graded", (id, args) => {
  expect(() => SENTENCE[id]!.bindAsReference(args)).toThrow();
});

test("sentences of a growing number of words are an increment of that number and of no other", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(6),
      (first, step, other) => {
        const sentences = [0, 1, 2, 3].map(
          (k) =>
            `${Array(first + k * step)
              .fill("Word")
              .join(" ")}.`,
        );
        const found = verdict(SENTENCE, "sentence:increment", "strict", [
          true,
          sentences.join(" "),
          { small_n: other },
        ]);
        expect(found).toBe(other === step);
      },
    ),
  );
});

test("a keyword of pattern characters is found between words as it stands", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: fc.constantFrom(..."^$*+()[]{}|/\\-") }), (marks) => {
      const args = { word: `a${marks}b`, N: 1 };
      expect(verdict(SENTENCE, "sentence:keyword", "reference", [true, `x a${marks}b y`, args])).toBe(true);
    }),
  );
});
