import { describe, expect, test } from "vitest";
import { ResponseText } from "../../../../lib/domains/instruction-following/text/response-text.ts";
import { isLower, isUpper } from "../../../../lib/python/text.ts";
import { sharedRows } from "../shared-cases.ts";

test("a response is read in every way constraints ask for", () => {
  const text = new ResponseText("Dr. No said HI. It's v1.2.");
  expect({
    lower: text.lower,
    fields: text.fields,
    words: text.words,
    sentences: text.sentences,
    splitSentences: text.splitSentences,
    tokens: text.tokens,
  }).toEqual({
    lower: "dr. no said hi. it's v1.2.",
    fields: ["Dr.", "No", "said", "HI.", "It's", "v1.2."],
    words: ["Dr", "No", "said", "HI", "It", "s", "v1", "2"],
    sentences: ["Dr. No said HI.", "It's v1.2."],
    splitSentences: ["Dr. No said HI.", "It's v1.2."],
    tokens: ["Dr.", "No", "said", "HI", ".", "It", "'s", "v1.2", "."],
  });
});

test("each reading is made once", () => {
  const text = new ResponseText("One. Two is here, and it is written in English.");
  for (const key of ["fields", "words", "sentences", "splitSentences", "tokens"] as const)
    expect(text[key]).toBe(text[key]);
  expect(text.language).toBe("en");
  expect(new ResponseText("1").language).toBeUndefined();
});

interface Vector {
  id: string;
  text: string;
  punkt_sentences: string[];
  ifeval_split: string[];
  word_tokenize: string[];
  n_words: number;
  isupper: boolean;
  islower: boolean;
  langdetect: string | null;
}
const vectors = sharedRows<Vector>("text_vectors.jsonl");

describe.skipIf(vectors.length === 0)("agreement with the reference's readings", () => {
  test.each<[string, (text: ResponseText, vector: Vector) => [actual: unknown, expected: unknown]]>([
    ["Punkt sentences", (text, v) => [text.sentences, v.punkt_sentences]],
    ["split sentences", (text, v) => [text.splitSentences, v.ifeval_split]],
    ["tokens", (text, v) => [text.tokens, v.word_tokenize]],
    ["word counts", (text, v) => [text.words.length, v.n_words]],
    ["upper case", (text, v) => [isUpper(text.raw), v.isupper]],
    ["lower case", (text, v) => [isLower(text.raw), v.islower]],
    ["languages", (text, v) => [text.language ?? null, v.langdetect]],
  ])("%s are all the same", (_, read) => {
    for (const vector of vectors) {
      const [actual, expected] = read(new ResponseText(vector.text), vector);
      expect([vector.id, actual]).toEqual([vector.id, expected]);
    }
  });
});
