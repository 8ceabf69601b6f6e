import { expect, test } from "vitest";
import { FAMILIES } from "../../lib/domains/families.ts";
import { QUICKSTART_LEXICON } from "../../lib/domains/lexicon.ts";
import { CounterRandom } from "../../lib/random.ts";
import { LexiconTokenizer } from "../../lib/text/index.ts";

test("the lexicon has 125 distinct words", () => {
  expect(QUICKSTART_LEXICON.length).toBe(125);
  expect(new Set(QUICKSTART_LEXICON).size).toBe(125);
});

test("no question takes over 44 tokens, so a prompt with its bos fits in 45", () => {
  const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
  for (const family of FAMILIES) {
    for (let i = 0; i < 800; i++) {
      const { question } = family.draw(new CounterRandom(12, i), i % 4);
      expect(tokenizer.encode(question).length).toBeLessThanOrEqual(44);
    }
  }
});
