import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { LexiconTokenizer } from "../../lib/text/index.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const SPECIALS = ["<pad>", "<bos>", "<eos>", "<think>", "</think>"];
const CHARACTERS = [...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)), "\n"];
const VOCABULARY = [...SPECIALS, ...CHARACTERS, ...QUICKSTART_LEXICON];

/** Longest match: tries every token at every position. */
function encodeByBruteForce(text: string, vocabulary: readonly string[]): number[] {
  const ids: number[] = [];
  for (let at = 0; at < text.length; ) {
    const fits = vocabulary
      .map((token, id) => ({ token, id }))
      .filter(({ token }) => text.startsWith(token, at));
    const longest = fits.reduce((best, each) => (each.token.length > best.token.length ? each : best));
    ids.push(longest.id);
    at += longest.token.length;
  }
  return ids;
}

const text = fc
  .array(fc.oneof(fc.constantFrom(...VOCABULARY), fc.constantFrom(" ", "<", "</", "x", "f(", "[", "->")), {
    maxLength: 30,
  })
  .map((parts) => parts.join(""));

test("the quick start's vocabulary has 226 tokens, ids in the documented order", () => {
  expect(tokenizer.vocabularySize).toBe(226);
  expect(VOCABULARY.map((_, id) => tokenizer.decode([id]))).toEqual(VOCABULARY);
  expect(tokenizer.special).toEqual({ pad: 0, bos: 1, eos: 2, think: 3, endThink: 4 });
});

test("a space is a token of its own, so a word has one id wherever it stands", () => {
  const [cat] = tokenizer.encode("cat");
  const [space] = tokenizer.encode(" ");
  expect([...tokenizer.encode("cat cat")]).toEqual([cat, space, cat]);
});

test("splitting is by the longest match", () => {
  fc.assert(
    fc.property(text, (t) => {
      expect([...tokenizer.encode(t)]).toEqual(encodeByBruteForce(t, VOCABULARY));
    }),
  );
});

test("decoding gives back what was encoded", () => {
  fc.assert(
    fc.property(text, (t) => {
      expect(tokenizer.decode(tokenizer.encode(t))).toBe(t);
    }),
  );
});

describe("special tokens", () => {
  const answer = "<think>4+4=3</think>3<eos>";

  test("are parsed to one id each, spelled on request, and left out on request", () => {
    const ids = tokenizer.encode(answer);
    expect(ids[0]).toBe(3);
    expect(ids.at(-1)).toBe(2);
    expect(tokenizer.decode(ids, { skipSpecial: true })).toBe("4+4=33");
    const spelled = tokenizer.encode(answer, { specials: "spell" });
    expect([...spelled].every((id) => id >= SPECIALS.length)).toBe(true);
    expect(tokenizer.decode(spelled)).toBe(answer);
  });

  test("have no bytes; all other tokens have those of their spelling", () => {
    const bytes = tokenizer.tokenBytes();
    expect(bytes.slice(0, 5).map((b) => b.length)).toEqual([0, 0, 0, 0, 0]);
    expect(bytes.slice(5).map((b) => new TextDecoder().decode(b))).toEqual(VOCABULARY.slice(5));
  });
});

test("what cannot be spelled is refused by name and place", () => {
  expect(() => tokenizer.encode("cat é")).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining("U+00E9 at 4") }),
  );
  expect(() => tokenizer.decode([5, 226])).toThrowError(expect.objectContaining({ code: "HONE_ERR_DATA" }));
  expect(() => tokenizer.decode([-1])).toThrowError(expect.objectContaining({ code: "HONE_ERR_DATA" }));
});

test.each([[["cat", "cat"]], [["c"]], [["naïve"]], [["<eos>"]]])("the lexicon %j is refused", (words) => {
  expect(() => new LexiconTokenizer(words)).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG" }),
  );
});

test("a stream gives each token's text at once", () => {
  const stream = tokenizer.stream({ skipSpecial: true });
  const ids = tokenizer.encode("<think>cat</think> dog");
  expect([...ids].map((id) => stream.push(id)).join("|") + stream.end()).toBe("|cat|| |dog");
});

test("tokens are found by name", () => {
  expect(tokenizer.idOf("<eos>")).toBe(2);
  expect(tokenizer.decode([tokenizer.idOf("cat")!])).toBe("cat");
  expect(tokenizer.idOf("no such word")).toBeUndefined();
});

test("as many tokens as a text may have are known without encoding it, where every character is spelled", () => {
  for (const text of ["", "cat dog", "<think>cat</think>\n~", " ".repeat(40)]) {
    expect(tokenizer.mostTokens(text)).toBeGreaterThanOrEqual(
      tokenizer.encode(text, { specials: "spell" }).length,
    );
  }
  for (const text of ["naïve", "\t", "\r\n", "\u007f"]) {
    expect(tokenizer.mostTokens(text)).toBeUndefined();
    expect(() => tokenizer.encode(text)).toThrow();
  }
});
