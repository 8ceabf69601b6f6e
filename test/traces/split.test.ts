import fc from "fast-check";
import { expect, test } from "vitest";
import { sentencesOf, stepsAt, stepsOf } from "../../lib/traces/split.ts";

const texts = (text: string) => stepsOf(text).map((step) => step.text);

test("paragraphs are steps, and what follows the thought is one, whatever is in it", () => {
  const steps = stepsOf(
    "<think>\nOne thing here.\n\nAnother thing.\n</think>\n\nThe answer.\n\nWait, it is 4.\n",
  );
  expect(steps.map(({ text, place }) => [place, text])).toEqual([
    ["thought", "One thing here."],
    ["thought", "Another thing."],
    ["answer", "The answer.\n\nWait, it is 4."],
  ]);
});

test.each([
  "Wait, that is 4 less.",
  "Let me check that again.",
  "Hold on, 3 is odd.",
  "Alternatively, use sums.",
])("a sentence that begins with a mark begins a step: %s", (turn) => {
  expect(texts(`Adding gives 12. It is even. ${turn} Then more.\n\nLast words here.`)).toEqual([
    "Adding gives 12. It is even.",
    `${turn} Then more.`,
    "Last words here.",
  ]);
});

test("lines with a mark or a number begin steps, others go on; without paragraphs every line is one", () => {
  expect(
    texts("The list is this\n1. first of them\n2. second one\nwhich is long\n\nAnd the end of it"),
  ).toEqual(["The list is this", "1. first of them", "2. second one\nwhich is long", "And the end of it"]);
  expect(texts("Given two numbers.\nTheir sum is 3.\nBoth are odd.")).toHaveLength(3);
});

test("code and displayed formulas stay whole, and a short piece or an announcement joins what follows", () => {
  const code = "```py\na = 1\n\nb = 2\n```";
  expect(texts(`Here is the code:\n\n${code}\n\nIt sets both of them.`)).toEqual([
    `Here is the code:\n\n${code}`,
    "It sets both of them.",
  ]);
  expect(texts("Okay.\n\nThe sum is even.\n\n\\[\na\n\nb\n\\]")).toEqual([
    "Okay.\n\nThe sum is even.",
    "\\[\na\n\nb\n\\]",
  ]);
});

test("a thought that was cut has no answer; nothing has no steps", () => {
  expect(stepsOf("<think>\nIt begins and\n\nis cut he").map(({ place }) => place)).toEqual([
    "thought",
    "thought",
  ]);
  for (const none of ["", " \n\n", "<think></think>"]) expect(stepsOf(none)).toEqual([]);
});

test("sentences are pieces: decimals and abbreviations in small letters do not end one", () => {
  const text = "<think>It is 3.5 m, i.e. long. Then 4! is 24. So?</think>Done. Yes.";
  expect(sentencesOf(text).map(({ from, to }) => text.slice(from, to))).toEqual([
    "<think>It is 3.5 m, i.e. long. ",
    "Then 4! is 24. ",
    "So?</think>",
    "Done. Yes.",
  ]);
});

test("steps cover a trace without gap or overlap, whatever it is", () => {
  const part = fc.constantFrom(
    "<think>",
    "</think>",
    "\n\n",
    "\n",
    "Wait, no. ",
    "So. ",
    "```",
    "$$",
    "1. ",
    "word ",
    "A b c d e f g. ",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.array(fc.nat(80), { maxLength: 5 }), (parts, cuts) => {
      const text = parts.join("");
      for (const steps of [
        stepsOf(text),
        stepsAt(
          text,
          cuts.filter((cut) => cut < text.length),
        ),
      ]) {
        if (steps.length === 0) continue;
        expect(steps[0]!.from).toBe(0);
        expect(steps.at(-1)!.to).toBe(text.length);
        for (const [i, step] of steps.entries()) {
          if (i > 0) expect(step.from).toBe(steps[i - 1]!.to);
          expect(step.text).not.toBe("");
        }
      }
    }),
  );
});
