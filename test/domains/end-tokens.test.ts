// Deliberate faults (mutants) that these tests detect: only one token is removed; white space before a token stays; a
// token in the middle is removed.
import { expect, test } from "vitest";
import { withoutEndTokens } from "../../lib/domains/end-tokens.ts";

test.each([
  "a</s>",
  "a<eos>",
  "a <|im_end|>\n",
  "a<|eot_id|><|end_of_text|>",
  "a<end_of_turn>\n<eos>",
  "a<｜end▁of▁sentence｜>",
  "a\n[EOS]",
])("%j ends in tokens", (text) => expect(withoutEndTokens(text)).toBe("a"));

test.each([
  "a",
  "a \n",
  "",
  "</s> a",
  "a < s>",
  "a<|not a token|>",
  "a <b>",
  "x<|",
  "1 < 2 |> 3",
  "a<|python_end|>",
  "a<｜tool▁calls▁end｜>",
  "a<|END_ACTION|>",
  "a<|action_end|>",
  "a<|call|>",
])("%j stays", (text) => expect(withoutEndTokens(text)).toBe(text));

test("a megabyte of them, or of blanks, takes linear time", () => {
  const start = performance.now();
  expect(withoutEndTokens("</s>".repeat(20_000))).toBe("");
  expect(withoutEndTokens(`a${" ".repeat(1 << 20)}b`)).toHaveLength((1 << 20) + 2);
  expect(performance.now() - start).toBeLessThan(5000);
});
