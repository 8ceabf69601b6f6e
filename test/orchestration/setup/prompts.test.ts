import { expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { encodePrompt, PromptEncoder } from "../../../lib/orchestration/setup/prompts.ts";
import type { Problem } from "../../../lib/records.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";
import { problemOf } from "../pipeline-accounting.ts";

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

test("a prompt may have as many tokens as the limit says", () => {
  expect(encodePrompt(problemOf("math", 9), format, 2).tokens).toHaveLength(2);
});

test("what was encoded to see whether it fits is not encoded again, and a fault is told, not thrown", () => {
  let encoded = 0;
  const counting = {
    ...format,
    prompt: (problem: Problem) => {
      encoded += 1;
      return format.prompt(problem);
    },
  };
  const encoder = new PromptEncoder(counting, 48);
  const problem = problemOf("math", 9);
  expect(encoder.fault(problem)).toBeUndefined();
  expect(encoder.encode(problem)).toBe(encoder.encode(problem));
  expect(encoded).toBe(1);
  const narrow = new PromptEncoder(format, 1);
  expect(narrow.fault(problem)).toMatchObject({ code: "HONE_ERR_DATA", details: { problem: 9, tokens: 2 } });
  const broken = new PromptEncoder(
    {
      ...format,
      prompt: () => {
        throw new Error("a bug");
      },
    },
    48,
  );
  expect(() => broken.fault(problem)).toThrow("a bug");
});
