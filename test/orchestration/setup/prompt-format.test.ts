import { expect, test } from "vitest";
import { openPrompts } from "../../../lib/orchestration/setup/prompt-format.ts";

test("without a folder prompts are of the built-in lexicon, and end where the recipe says", () => {
  const { tokenizer, format } = openPrompts({ stopIds: [7] });
  expect(format.stopIds).toEqual([7]);
  expect(openPrompts({}).format.stopIds).toEqual([tokenizer.special.eos]);
  expect(tokenizer.decode(format.prompt({ question: "1 + 1?" }), { skipSpecial: true })).toBe("1 + 1?");
});

test("a folder without a tokenizer is an error that names it", () => {
  expect(() => openPrompts({ folder: "no/such/model" })).toThrow(/no\/such\/model/);
});
