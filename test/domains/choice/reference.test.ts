import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { gpqaLetter, mmluProLetter, REFERENCE } from "../../../lib/domains/choice/reference.ts";

test.each([
  ["Answer: C", "C"],
  ["Answer: E", undefined],
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

test("the style names the harness, and the thought is read too", () => {
  expect(REFERENCE.letterOf("Answer: B, or the answer is (C)", "gpqa", 4)).toBe("B");
  expect(REFERENCE.letterOf("Answer: B, or the answer is (C)", "mmlu-pro", 10)).toBe("C");
  expect(REFERENCE.responseOf("<think>A</think>B")).toBe("<think>A</think>B");
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
  ["", "A is "],
  ["", "option "],
  ["", "option C is correct. "],
  ["", "(C)*"],
])("ten megabytes of %j and %j take no longer than their length", (head, unit) => {
  const response = head + unit.repeat(10_000_000 / unit.length);
  const begun = performance.now();
  for (const read of [gpqaLetter, mmluProLetter]) read(response);
  expect(performance.now() - begun).toBeLessThan(15_000); // quadratic time would be hours
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
