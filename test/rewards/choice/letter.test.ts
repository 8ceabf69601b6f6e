import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { committedLetter, gpqaLetter, mmluProLetter } from "../../../lib/rewards/choice/letter.ts";

test.each([
  ["Answer: C", "C"],
  ["so\nANSWER :\t$B$\nAnswer: C", "B"],
  ["**Answer: D**", "D"],
  ["Answer: **C**", undefined],
  ["Answer: (C)", undefined],
  ["Answer:\nC", undefined],
  ["Answer: c", "c"],
  ["the answer is C", undefined],
])("GPQA's harness reads %j as %j", (response, letter) => {
  expect(gpqaLetter(response)).toBe(letter);
});

test.each([
  ["The answer is (B). The answer is C.", "B"],
  ["The answer is B) and Answer: C", "B"],
  ["The answer is (b). Answer: C", "C"],
  ["answer: A, no, Answer:\n D\nAnswer: E", "D"],
  ["Answer: A then answer: B\nAnswer: C", "B"],
  ["Answer:\u001cF", "F"],
  ["Answer:\ufeffF or G", "G"],
  ["Answering A, B or, I think, none", "I"],
  ["options A_1, B2, ÄC", undefined],
  ["a b c", undefined],
  ["", undefined],
])("MMLU-Pro's harness reads %j as %j", (response, letter) => {
  expect(mmluProLetter(response)).toBe(letter);
});

describe("strict reads", () => {
  test.each([
    ["The answer is (B). Wait, the answer is C.", "C"],
    ["Answer: **C**", "C"],
    ["**Answer:** C", "C"],
    ["The final answer is: \\boxed{\\text{D}}.", "D"],
    ["ANSWER: D", "D"],
    ["\\boxed{(E)}", "E"],
    ["$\\boxed{F}$ is what I choose, not G", "F"],
    ["The answer is A, because", "A"],
    ["The answer is A because", undefined],
    ["The answer is (A) because", "A"],
    ["The answer is I think B", undefined],
    ["The answer is H because", "H"],
    ["The answer is Bismuth", undefined],
    ["The answer isn't B", undefined],
    ["I choose A or B", undefined],
    [" (C). ", "C"],
    ["**G**", "G"],
    ["C and D", undefined],
    ["answer is K", undefined],
  ])("%j as %j", (response, letter) => {
    expect(committedLetter(response)).toBe(letter);
  });
});

test.each([
  ["answer:", " "],
  ["answer is ", "("],
  ["", "answer "],
  ["", "\\boxed{"],
  ["Answer", "\t"],
  ["", "answer: \n"],
  ["answer is ", "\\text{"],
  ["", "A_"],
])("ten megabytes of %j and %j take no longer than their length", (head, unit) => {
  const response = head + unit.repeat(10_000_000 / unit.length);
  const begun = performance.now();
  for (const read of [gpqaLetter, mmluProLetter, committedLetter]) read(response);
  expect(performance.now() - begun).toBeLessThan(15_000); // quadratic time would take hours
});

const file = resolve(
  process.env["HONE_SHARED"] ?? "../shared",
  "reference/data/eval/mmlu_pro_extraction.jsonl",
);

test.skipIf(!existsSync(file))("every published extraction is reproduced, a random draw excepted", () => {
  const rows = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { model_output: string; extracted: string | null });
  expect(rows).toHaveLength(155);
  expect(rows.filter((row) => (mmluProLetter(row.model_output) ?? null) !== row.extracted)).toEqual([]);
});
