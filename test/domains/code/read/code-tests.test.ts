import { expect, test } from "vitest";
import { code } from "../../../../lib/domains/code/verify.ts";
import { readAs } from "../../../data/filtered.ts";

// Deliberate faults (mutants) that these tests detect: tests are searched in one place only, the language is ignored,
// a checker is ignored, fences are doubled.

const spec = { kind: "code-tests" } as const;
const list = [
  { input: "1\n", output: "2\n", type: "stdin_stdout", fn_name: null },
  { input: "21\n", output: "42\n", type: "stdin_stdout", fn_name: null },
];
const io = '{"inputs": ["1\\n", "21\\n"], "outputs": ["2\\n", "42\\n"]}';
const PROGRAM = "print(2 * int(input()))";
const named = (index: number, more: object) => ({ problem: `Print twice the number, ${index}.`, ...more });

test("tests are found where each set has them, and its solutions pass them", async () => {
  const solved = { solutions: [`\`\`\`python\n${PROGRAM}\n\`\`\``] };
  const { kept, bad, leftOut } = await readAs(spec, [
    named(0, { tests: JSON.stringify(list), ...solved }),
    named(1, { tests: JSON.stringify({ inputs: ["1\n", "21\n"], outputs: ["2\n", "42\n"] }), ...solved }),
    named(2, {
      verification_info: { language: "python", test_cases: list },
      gold_standard_solution: solved.solutions[0],
    }),
    named(3, {
      verification_info: JSON.stringify({ language: "python", test_cases: list }),
      solutions: [PROGRAM],
    }),
    named(4, { test_cases: JSON.stringify(list), solutions: JSON.stringify([PROGRAM]) }),
    {
      description: "Print twice the number.",
      official_tests: list.map(({ input, output }) => ({ input, output })),
    },
  ]);
  expect([bad, leftOut]).toEqual([{}, {}]);
  expect(kept).toHaveLength(6);
  for (const [i, row] of kept.entries()) {
    if (i !== 1) expect(row.reference).toEqual({ input_output: io });
    expect(row).toMatchObject({ family: "code-tests", level: 0 });
    expect(row.question).toContain("Write a Python program that reads from standard input");
    for (const text of row.gold!()) {
      const verdict = await code.verify({ text, finish: "stop" }, code.parseReference(row.reference));
      expect(verdict).toMatchObject({ status: "correct", reason: "2 of 2 tests pass" });
    }
  }
  expect(kept.map(({ gold }) => gold!().length)).toEqual([1, 1, 1, 1, 1, 0]);
}, 120_000);

test("a function is named by its tests or by the row, and called with a JSON value a line", async () => {
  const call = { input: "[1, 2]\n3", output: "6", testtype: "functional" };
  const row = {
    problem: "Add up a list and a number.",
    starter_code: "class Solution:\n    def total(self, some, more):\n        ",
    solutions: ["class Solution:\n    def total(self, some, more):\n        return sum(some) + more"],
  };
  const { kept } = await readAs(spec, [
    { ...row, tests: JSON.stringify([{ ...call, metadata: { func_name: "total" } }]) },
    {
      ...row,
      problem: "Again.",
      tests: JSON.stringify([call]),
      metadata: JSON.stringify({ func_name: "total" }),
    },
  ]);
  expect(kept.map(({ reference }) => (reference as { fn_name: string }).fn_name)).toEqual(["total", "total"]);
  expect(kept[0]!.question).toContain(
    "The function is called `total`.\n\nStart from this:\n```python\nclass Solution:",
  );
  const verdict = await code.verify(
    { text: kept[0]!.gold!()[0]!, finish: "stop" },
    code.parseReference(kept[0]!.reference),
  );
  expect(verdict).toMatchObject({ status: "correct" });
}, 120_000);

test("codeforces' parts are put together, unless there is a prompt", async () => {
  const parts = {
    description: "Double it.",
    input_format: "One number.",
    output_format: "One number.",
    examples: [{ input: "1\n", output: "2" }],
    official_tests: list,
  };
  const { kept } = await readAs({ ...spec, template: "{task}", maxTests: 1 }, [
    parts,
    { ...parts, prompt: "All." },
  ]);
  expect(kept.map(({ question }) => question)).toEqual([
    "Double it.\n\nInput\n\nOne number.\n\nOutput\n\nOne number.\n\nExamples\n\nInput:\n1\nOutput:\n2",
    "All.",
  ]);
  expect(kept[0]!.reference).toEqual({ input_output: '{"inputs": ["1\\n"], "outputs": ["2\\n"]}' });
});

test("rows that tests and Python do not answer are left out, each with its reason", async () => {
  const tests = JSON.stringify(list);
  const { kept, bad, leftOut } = await readAs(spec, [
    named(0, { tests: "[]" }),
    named(1, { verification_info: { language: "javascript", test_cases: list } }),
    named(2, { tests, language: "cpp" }),
    named(3, { tests, generated_checker: "import sys" }),
    named(4, { tests, interaction_format: "Ask." }),
    named(5, { tests, input_mode: "file" }),
    named(6, { tests: "[{'input': '1'}]" }),
    named(7, {}),
    { tests },
    named(9, { tests: 3 }),
  ]);
  expect(kept).toEqual([]);
  expect(leftOut).toEqual({
    "no tests": 1,
    "language javascript": 1,
    "language cpp": 1,
    "generated_checker: a program judges, not tests alone": 1,
    "interaction_format: interactive": 1,
    "input_mode file": 1,
  });
  expect(bad).toEqual({
    "tests: not JSON with inputs and outputs": 1,
    "tests: missing, as are verification_info.test_cases, test_cases, official_tests, info.tests, verifier_metadata.unit_tests": 1,
    "problem: missing": 1,
    "tests: no tests": 1,
  });
});
