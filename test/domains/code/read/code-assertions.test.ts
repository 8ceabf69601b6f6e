import { expect, test } from "vitest";
import type { RowDraft } from "../../../../lib/data/row-reader.ts";
import { codeAssertions } from "../../../../lib/domains/code/read/code-assertions.ts";
import { findBuiltIn } from "../../../../lib/domains/index.ts";
import { patient } from "../../../patience.ts";

// Deliberate faults (mutants) that these tests detect: only the first function of a pytest module is called,
// assertions of several functions are accepted, the question shows the method's name.

const read = (row: object) =>
  codeAssertions.open({ path: "x" })({ file: "x.jsonl", row: 1, value: row, text: JSON.stringify(row) });
const KOD = {
  question: "Write a function that doubles.",
  solution: "def double(n):\n    return 2 * n",
  test: "import pytest\nfrom solution import double\n\ndef test_two():\n    assert double(2) == 4\n\ndef test_zero():\n    assert double(0) == 0",
  test_info: [{ function_name: "double" }],
};
const leet = (test_code: string, entry_point = "Solution().double") => ({
  prompt: [{ role: "user", content: "Double, in class Solution." }],
  reward_model: { ground_truth: JSON.stringify({ entry_point, import_prefix: "import math", test_code }) },
});

const block = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
const statusOf = async (draft: RowDraft, text: string) => {
  const verifier = (await findBuiltIn("assertions"))!;
  const parsed = verifier.parseReference(draft.reference);
  return (await verifier.verify({ text, finish: "eos" }, parsed)).status;
};

test(
  "right programs are right by the tests of each set, and wrong ones are not",
  async () => {
    const kod = read(KOD) as RowDraft;
    expect(kod.question).toContain("The function is called `double`.");
    expect(await statusOf(kod, kod.gold!()[0]!)).toBe("correct");
    // passes only the first test function
    expect(await statusOf(kod, block("def double(n):\n    return 4"))).toBe("wrong");
    const ace = read({
      question: "Write double(n).",
      test_cases: ["assert double(2) == 4", "assert double(3) == 6"],
    });
    expect(ace).toMatchObject({ reference: { entryPoint: "double" }, askedFrom: "question" });
    expect(await statusOf(ace as RowDraft, block("def double(n):\n    return 2 * n"))).toBe("correct");
    expect(await statusOf(ace as RowDraft, block("def double(n):\n    return 4"))).toBe("wrong");
    const method = read(
      leet("def check(candidate):\n    assert candidate(n=2) == 4\n    assert candidate(n=3) == 6"),
    ) as RowDraft;
    expect(method.question).not.toContain("hone_method");
    const solution = (body: string) =>
      block(`class Solution:\n    def double(self, n):\n        return ${body}`);
    expect(await statusOf(method, solution("2 * n"))).toBe("correct");
    expect(await statusOf(method, solution("4"))).toBe("wrong");
  },
  patient(60_000),
);

test.each<[object, object]>([
  [
    { question: "q", test_cases: ["assert f(1)", "assert g(1)"] },
    { bad: expect.stringContaining("several") },
  ],
  [{ question: "q", test_cases: ["x = 1"] }, { bad: expect.stringContaining("no function") }],
  [{ question: "q", test_cases: [] }, { bad: expect.stringMatching(/^test_cases/) }],
  [{ question: "q" }, { bad: expect.stringMatching(/^test_cases: missing/) }],
  [{ test_cases: ["assert f(1) == 1"] }, { bad: "question: missing" }],
  [
    { question: "q", test_cases: ["assert f(Node(1)) == 1"] },
    { leftOut: "tests that make instances of classes" },
  ],
  [{ ...KOD, test: `${KOD.test}\n    pytest.raises(ValueError)` }, { leftOut: "tests that need pytest" }],
  [{ ...KOD, test: "assert double(2) == 4" }, { bad: expect.stringMatching(/^test: no function/) }],
  [
    { ...KOD, test_info: [...KOD.test_info, { function_name: "half" }] },
    { leftOut: "tests of several functions" },
  ],
  [
    leet("def check(candidate):\n    assert candidate(list_node([1]))"),
    { leftOut: "tests that make instances of classes" },
  ],
  [
    leet("def check(candidate): pass", "Solution(1).x(2)"),
    { bad: expect.stringContaining("neither a function") },
  ],
])("%j is not read", (row, outcome) => {
  expect(read(row)).toEqual(outcome);
});
