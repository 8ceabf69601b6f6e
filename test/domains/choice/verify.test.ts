// Deliberate faults (mutants) that these tests detect: strict keeps the reasoning; the number of choices is ignored.
import { expect, test } from "vitest";
import { choice } from "../../../lib/domains/choice/verify.ts";

type Style = "gpqa" | "mmlu-pro";
const judge = (text: string, more: object = {}) =>
  choice.verify(
    { text, finish: "eos" },
    choice.parseReference({ answer: "C", choices: 4, style: "gpqa", ...more }),
  );

test.each<[string, string, object, { status: string; reason: string }]>([
  ["the right letter", "Answer: C", {}, { status: "correct", reason: "chose C" }],
  ["another", "Answer: B", {}, { status: "wrong", reason: "chose B" }],
  ["no letter", "I do not know", {}, { status: "wrong", reason: "no letter found" }],
  ["a letter beyond the choices", "Answer: E", {}, { status: "wrong", reason: "no option E" }],
  ["nothing", " ", {}, { status: "no_answer", reason: "blank response" }],
  ["a thought alone", "<think>Answer: C</think>", {}, { status: "no_answer", reason: "blank response" }],
  ["a thought without end", "<think>Answer: C", {}, { status: "no_answer", reason: "blank response" }],
  ["a letter corrected later", "Answer: B. No. Answer: C", {}, { status: "correct", reason: "chose C" }],
])("strict: %s", (_, text, more, verdict) => {
  expect(judge(text, more)).toMatchObject(verdict);
});

test.each<[string, Style, string, string]>([
  ["the first statement counts", "gpqa", "Answer: B. No. Answer: C", "wrong: chose B"],
  ["thoughts count", "gpqa", "<think>Answer: C</think>", "correct: chose C"],
  ["small letters are other letters", "gpqa", "answer: c", "wrong: no option c"],
  ["a lone letter counts", "mmlu-pro", "It may be C", "correct: chose C"],
  ["the pronoun counts", "mmlu-pro", "C, I think", "wrong: no option I"],
  ["none is wrong, not drawn", "mmlu-pro", "none of them", "wrong: no letter found"],
])("reference: %s", (_, style, text, verdict) => {
  const { status, reason } = judge(text, { style, compat: "reference" }) as {
    status: string;
    reason: string;
  };
  expect(`${status}: ${reason}`).toBe(verdict);
});

test.each([
  [{ answer: "E" }, /answer E is none of 4 choices/],
  [{ answer: "c" }, /answer: /],
  [{ choices: 27 }, /choices: /],
  [{ style: "sat" }, /style: /],
  [{ answer: undefined }, /answer: /],
])("the reference with %j is refused", (more, message) => {
  expect(() => judge("Answer: C", more)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
  );
});

test("a permutation and its seed are kept beside the answer", () => {
  expect(judge("Answer: C", { order: [2, 1, 0, 3], seed: 7 })).toMatchObject({ status: "correct" });
});

test.each(["\u200b", " \u2060\n", "\u3164\u2800", "\ufffd"])("strict: %j is blank", (text) => {
  expect(judge(text)).toMatchObject({ status: "no_answer", reason: "blank response" });
  expect(judge(text, { compat: "reference" })).toMatchObject({ status: "wrong" });
});
