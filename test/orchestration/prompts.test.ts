import { expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { encodePrompt, encodePrompts, PromptEncoder } from "../../lib/orchestration/prompts.ts";
import { LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { problemOf, requestOf } from "./lines-books.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);

test("a prompt is the begin token and the question, in which special tokens are only characters", () => {
  const problem = { ...problemOf("math"), question: "say <eos>" };
  const { tokens } = encodePrompt(problem, format, 48);
  expect(tokens[0]).toBe(tokenizer.special.bos);
  expect([...tokens]).not.toContain(tokenizer.special.eos);
  expect(tokenizer.decode(tokens.subarray(1))).toBe("say <eos>");
});

test("a prompt that is too long names its problem", () => {
  expect(() => encodePrompt(problemOf("math", 9), format, 1)).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_DATA", details: { problem: 9, tokens: 2 } }),
  );
});

test("requests keep their order and come with their prompt", async () => {
  const requests = (async function* () {
    yield requestOf(0, 0);
    yield requestOf(1, 0);
  })();
  const groups: number[] = [];
  for await (const { request, prompt } of encodePrompts(requests, new PromptEncoder(format, 48))) {
    expect(prompt.problem).toBe(request.problem);
    groups.push(request.group);
  }
  expect(groups).toEqual([0, 1]);
});
