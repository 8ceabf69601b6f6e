// Deliberate faults (mutants) that these tests detect: the alphabet does not wrap; "y" is a vowel; clusters span
// words; palindromes of four; 1 or 91 is prime; a word repeated n times is refused; any token may be the verb; the
// final mark counts as the last word; punctuation tokens count as words of a position.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { WORDS } from "../../../../lib/domains/instruction-following/ifbench/words.ts";
import { holds, verdict } from "./hand-made.ts";

const PALINDROMES = "Racecar, radar, level, madam, civic, refer, tenet, deified, reviver";

holds(WORDS, "reference", {
  "words:alphabet": [
    [true, "Be cause dandelions eat freedom."],
    [true, "Xenon yields zinc, and beryllium."],
    [false, "Yes, a zoo."],
    [false, "A cat."],
    [true, "A - big 'cat' dug"], // a single mark is not a word
    [false, "1 a b"],
    [false, "Été fin"],
    [true, "Word"],
    [false, "…"],
  ],
  "words:vowel": [
    [true, "a bee in"],
    [false, "a bee in on"],
    [true, "A bEE IN, my rhythm"], // y is not a vowel here, and case is ignored
    [false, "one\nline"],
    [true, "\n one line \n"],
    [false, "a e i u"],
    [true, "été à ü o"], // accented vowels do not count
  ],
  "words:consonants": [
    [true, "This employs consonant clusters."],
    [false, "This does not."],
    [true, "try sky"],
    [false, "b c"],
    [true, "ab'cd efgh"],
    [false, "this -"],
    [false, "ñaño this"], // no cluster of two letters b to z
  ],
  "words:palindrome": [
    [true, `${PALINDROMES}, rotor.`],
    [false, `${PALINDROMES}.`],
    [false, `${PALINDROMES}, otto.`],
    [true, Array(10).fill("abcba").join(" ")],
    [true, `${PALINDROMES} 12321`],
    [true, `${PALINDROMES} ro-tor`], // marks are removed before words are read
    [false, PALINDROMES.repeat(2).replaceAll(", ", "")],
  ],
  "words:prime_lengths": [
    [false, "It can shine indeed"],
    [true, "It can shine nowhere"],
    [false, "a"],
    [true, "it's up"],
    [false, "can't"],
    [true, "!!!"],
    [false, "x".repeat(91)],
    [true, "x".repeat(97)],
    [true, "😀😀😀"], // characters, not UTF-16 units
  ],
  "words:repeats": [
    [true, "a b a", { small_n: 2 }],
    [false, "a b A, (a)", { small_n: 2 }],
    [true, "a-b a b", { small_n: 1 }], // the words ab, a, b
    [false, "dont don't", { small_n: 1 }],
    [true, "... ... ...", { small_n: 1 }],
    [false, "a", { small_n: 0 }],
    [true, "constructor __proto__ toString", { small_n: 1 }],
  ],
  "words:last_first": [
    [true, 'I like cats. Cats like dogs! "Dogs bark.'],
    [false, 'We like dogs! "Dogs" bark.'], // the first word is `Dogs"`
    [false, "I like cats. Dogs bark."],
    [true, "Only one."],
    [false, "I like cats. ..."],
    [true, "Go up, up! UP we go."],
    [false, "Go up (up). UP we go."], // the last word is "(up"
    [false, "We like it. It's here."],
  ],
  "words:paragraph_last_first": [
    [true, "End of the end.\n\nGo now, go!"],
    [false, "End of the end.\nGo now."],
    [true, "Word"],
    [false, '"Hi" is how I say "hi".'],
    [false, "*Stop* you must (stop)"],
    [true, '"Stop there, stop"\n---\n'],
    [true, "\n \n"],
  ],
  "words:no_consecutive": [
    [true, "Apples bear cats"],
    [false, "Big bears"],
    [false, 'a "Apple"'],
    [true, "a - b a"],
    [false, "Éclair été"],
    [true, "one"],
    [false, "12 1st"],
  ],
  "words:keywords_specific_position": [
    [true, "No. The Cat sat.", { keyword: "cat", n: 2, m: 2 }],
    [false, "The cat sat.", { keyword: "cat", n: 2, m: 2 }],
    [false, "No. The cats sat.", { keyword: "cat", n: 2, m: 2 }],
    [true, 'No. "The", (cat) sat.', { keyword: " cat ", n: 2, m: 2 }], // punctuation is not a word
    [true, "I don't know cats.", { keyword: "know", n: 1, m: 4 }], // the words I, do, n't, know
    [false, "The cat.", { keyword: "cat", n: 1, m: 3 }],
    [true, "A well-known cat.", { keyword: "cat", n: 1, m: 3 }],
  ],
  "words:words_position": [
    [true, "The cat is a cat here.", { keyword: "cat" }],
    [true, "The cat is a cat here", { keyword: "Cat" }],
    [false, "The cat is here.", { keyword: "cat" }],
    [false, "cat", { keyword: "cat" }],
    [true, "The cat here", { keyword: "cat" }],
    [false, "The cat here, a cat is.", { keyword: "here" }],
    [false, 'The cat is a cat "here"', { keyword: "cat" }], // a closing quote is the last word
    [false, '"The cat is a cat here.', { keyword: "cat" }], // an opening quote is the first word
    [false, "cat.", { keyword: "cat" }],
  ],
  "words:odd_even_syllables": [
    [true, "cat table dog"],
    [false, "cat dog"],
    [true, "banana"],
    [true, "Table, cat; (table)"],
    [false, "banana cat"],
    [true, "42 cat 7th dog"], // a number has 0 syllables, which is even
    [true, "strength happy bread"],
    [true, "idea every area"], // 3, 2 and 3 syllables; the rule would count 2, 3 and 2
    [false, "idea area"],
  ],
});

holds(WORDS, "strict", {
  "words:last_first": [
    [false, "Only one."],
    [true, "Up and down. Down we go."],
  ],
});

test.each([
  ["words:repeats", {}],
  ["words:words_position", { keyword: "  " }],
  ["words:keywords_specific_position", { keyword: "cat", n: 0, m: 1 }],
  ["words:keywords_specific_position", { keyword: "cat", n: 1 }],
])("%s with %j cannot be graded", (id, args) => {
  expect(() => WORDS[id]!.bindAsReference(args)).toThrow();
});

afterEach(() => vi.unstubAllEnvs());

test("a start with a verb is told by the model that the data folder has", () => {
  const folder = mkdtempSync(join(tmpdir(), "hone-tagger-"));
  const name = "averaged_perceptron_tagger_eng";
  try {
    mkdirSync(join(folder, "taggers", name), { recursive: true });
    const parts = { weights: {}, tagdict: { Run: "VB", Runs: "VBZ" }, classes: ["NN"] };
    for (const [part, value] of Object.entries(parts)) {
      writeFileSync(join(folder, "taggers", name, `${name}.${part}.json`), JSON.stringify(value));
    }
    vi.stubEnv("NLTK_DATA", folder);
    holdsVerbs([
      [true, "Run away."],
      [true, "Runs in the family"],
      [false, "Dogs Run"],
      [false, '"Run" he said'],
      [false, ". Run"],
      [false, ""],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function holdsVerbs(rows: readonly (readonly [boolean, string])[]): void {
  expect(
    rows.map(([, text]) => [verdict(WORDS, "words:start_verb", "reference", [true, text]), text]),
  ).toEqual(rows);
}

test("words that step through the alphabet follow it, and one step more does not", () => {
  fc.assert(
    fc.property(fc.nat(25), fc.integer({ min: 1, max: 60 }), fc.nat(59), (start, length, place) => {
      const letter = (k: number) => String.fromCharCode(97 + ((start + k) % 26));
      const words = Array.from({ length }, (_, k) => `${letter(k)}x`);
      expect(verdict(WORDS, "words:alphabet", "reference", [true, words.join(" ")])).toBe(true);
      fc.pre(place > 0 && place < length);
      words[place] = `${letter(place + 1)}x`;
      expect(verdict(WORDS, "words:alphabet", "reference", [true, words.join(" ")])).toBe(false);
    }),
  );
});

test("prime lengths are those of trial division, up to a hundred", () => {
  for (let length = 1; length <= 100; length += 1) {
    const divisors = Array.from({ length }, (_, k) => k + 1).filter((d) => length % d === 0).length;
    expect(verdict(WORDS, "words:prime_lengths", "reference", [true, "x".repeat(length)])).toBe(
      divisors === 2,
    );
  }
});
