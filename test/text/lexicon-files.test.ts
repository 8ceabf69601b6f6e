import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { openTokenizer } from "../../lib/native/index.ts";
import { chatFormat, LexiconTokenizer, lexiconFiles, plainFormat } from "../../lib/text/index.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-lexicon-"));
afterAll(() => rmSync(folder, { recursive: true }));
const lexicon = new LexiconTokenizer(QUICKSTART_LEXICON);
for (const { name, text } of lexiconFiles(lexicon, 128)) writeFileSync(join(folder, name), text);
const written = openTokenizer(folder);

const piece = fc.oneof(
  fc.constantFrom(...QUICKSTART_LEXICON, "<think>", "</think>", "<eos>", "\n", "  "),
  fc.string({
    unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
    maxLength: 6,
  }),
);
const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));

test("the files give the lexicon's ids and texts, words within words included", () => {
  fc.assert(
    fc.property(text, (sample) => {
      const ids = lexicon.encode(sample);
      expect([...written.encode(sample)]).toEqual([...ids]);
      expect(written.decode(ids)).toBe(lexicon.decode(ids));
    }),
    { numRuns: 300 },
  );
  expect(written.vocabularySize).toBe(lexicon.vocabularySize);
  expect(written.special).toEqual(lexicon.special);
});

test("an episode goes on as training has it, whether the turn ended itself or was cut, and calls are read alike", () => {
  const [chat, plain] = [chatFormat(folder, written).turns(), plainFormat(lexicon).turns()];
  for (const ended of [lexicon.special.eos, undefined])
    for (const text of ["_a_ ", "1938\n", "<eos>"])
      expect([...chat.observation(text, ended)]).toEqual([...plain.observation(text, ended)]);
  expect(chat.toolCalls).toBe(plain.toolCalls);
});

test("a question is asked as training asks it, and an answer ends where it ended there", () => {
  const [chat, plain] = [chatFormat(folder, written), plainFormat(lexicon)];
  const task = { question: "Solve 2x+1=0 mod 3" };
  expect([...chat.prompt(task)]).toEqual([...plain.prompt(task)]);
  expect(chat.stopIds).toEqual(plain.stopIds);
});
