// Deliberate faults (mutants) that these tests detect: >= for <= in stop words; bigrams; a band of 3 points;
// "declarative = interrogative"; sentence lengths in UTF-16 units; reference mode requires different words.
import fc from "fast-check";
import { expect, test } from "vitest";
import { RATIO } from "../../../../lib/domains/instruction-following/ifbench/ratio.ts";
import { holds, verdict } from "./hand-made.ts";

holds(RATIO, "reference", {
  "ratio:stop_words": [
    [true, "the cat", { percentage: 50 }],
    [false, "the cat", { percentage: 49 }],
    [false, "THE And of", { percentage: 99 }],
    [true, "cats purr", { percentage: 0 }],
    [false, "...", { percentage: 100 }], // a text without words has no share of stop words
    [false, "don't", { percentage: 99 }], // "don" and "t" are both on the list
    [true, "however perhaps", { percentage: 0 }], // neither word is on the list
  ],
  "ratio:sentence_type": [
    [true, "It is. It was. Is it?"],
    [false, "It is. Is it?"],
    [false, "Is it?"],
    [true, "Wow!"], // no sentence of either type
    [true, "It is. Wow! It was. Is it?"],
    [true, "Go on. Stop. Why not? Come in. Sit. Why so?"],
    [true, 'It is. It was. Is it? He said "it is."'], // the last sentence ends in a quote, so it has no type
  ],
  "ratio:sentence_balance": [
    [true, "It is. Is it? It is!"],
    [false, "It is. Is it?"],
    [true, "no end"],
    [false, "It is. It is. Is it? It is!"],
    [true, "Wow! Is it? Go. Why? No! So."],
    [false, "Mr. Smith is here! Is he?"],
  ],
  "ratio:overlap": [
    [true, "abcdef", { reference_text: "abcdef", percentage: 100 }],
    [true, "abcxyz", { reference_text: "abcdef", percentage: 25 }], // abc is one of four trigrams: abc bcx cxy xyz
    [true, "abcxyz", { reference_text: "abcdef", percentage: 27 }],
    [true, "abcxyz", { reference_text: "abcdef", percentage: 23 }],
    [false, "abcxyz", { reference_text: "abcdef", percentage: 28 }],
    [false, "ab", { reference_text: "abcdef", percentage: 0 }], // too short for a trigram
    [true, "xyz", { reference_text: "ab", percentage: 1 }],
    [true, "abxbc", { reference_text: "abc", percentage: 0 }], // two common characters make no trigram
    [true, "aaaaaab", { reference_text: "aaa", percentage: 50 }], // the distinct trigrams are aaa and aab
    [true, "😀😀😀a", { reference_text: "😀😀😀", percentage: 50 }], // characters, not UTF-16 units
  ],
  "ratio:sentence_words": [
    [true, "Abc de. Fgh ij. Klm no."],
    [false, "Abc de. Fgh ij."],
    [false, "Abc de. Fgh ij. Klm nop."],
    [true, "Abc de. Abc de. Abc de."], // the words need not differ
    [true, "A b😀. C dé? E fg!"],
    [false, "Abc de. Fgh ij. Klm no. Pqr st."],
  ],
});

holds(RATIO, "strict", {
  "ratio:sentence_type": [
    [false, "Wow!"],
    [true, "It is. It was. Is it?"],
    [true, 'He said "it is." It was. Is it?'],
    [true, "(It is.) It was. **Is it?**"],
    [false, 'It is. It was. Is it? He said "it is."'],
  ],
  "ratio:sentence_balance": [
    [false, "no end"],
    [true, "It is. Is it? It is!"],
    [true, 'It is. "Is it?" It is!'],
  ],
  "ratio:sentence_words": [
    [false, "Abc de. Abc de. Abc de."],
    [false, "Abc de. Fgh de. Klm no."],
    [true, "Abc de. Fgh ij. Klm no."],
  ],
});

test.each([
  ["ratio:overlap", { percentage: 5 }],
  ["ratio:overlap", { percentage: -1, reference_text: "abc" }],
  ["ratio:stop_words", { percentage: "5" }],
])("%s with %j cannot be graded", (id, args) => {
  expect(() => RATIO[id]!.bind(args)).toThrow();
});

test("the overlap of a text with itself is all of it, with a text of other letters nothing", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 3, unit: fc.constantFrom("a", "b", "é", "😀") }), (text) => {
      const of = (reference_text: string, percentage: number) =>
        verdict(RATIO, "ratio:overlap", "reference", [true, text, { reference_text, percentage }]);
      expect([of(text, 100), of(text, 97), of("xyzxyz", 0), of("xyzxyz", 3)]).toEqual([
        true,
        false,
        true,
        false,
      ]);
    }),
  );
});
