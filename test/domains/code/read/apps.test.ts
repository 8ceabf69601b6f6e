import { expect, test } from "vitest";
import { filterRows, readAs, writeRows } from "../../../data/filtered.ts";

const spec = { kind: "apps" } as const;
const row = (more: object = {}) => ({
  problem_id: 0,
  question: "Double the number.",
  input_output: JSON.stringify({ inputs: ["1\n"], outputs: ["2\n"] }),
  difficulty: "introductory",
  url: "https://codeforces.com/problemset/problem/1/A",
  starter_code: "",
  solutions: JSON.stringify(["print(2 * int(input()))"]),
  ...more,
});

test("every difficulty is a level, and none is left out unless it is named", async () => {
  const rows = ["introductory", "interview", "competition"].map((difficulty) =>
    row({ question: difficulty, difficulty }),
  );
  const { kept } = await readAs(spec, rows);
  expect(kept.map(({ content, family, level }) => [content, family, level])).toEqual([
    ["introductory", "apps", 0],
    ["interview", "apps", 1],
    ["competition", "apps", 2],
  ]);
  const chosen = await readAs({ ...spec, dropDifficulties: ["competition"] }, rows);
  expect(chosen.leftOut).toEqual({ "difficulty competition": 1 });
});

test("rows without tests, as the test split has them, are left out and not bad", async () => {
  const { kept, bad, leftOut } = await readAs(spec, [
    row(),
    row({ question: "x", input_output: "", solutions: "" }),
  ]);
  expect([kept.length, bad, leftOut]).toEqual([1, {}, { "no tests": 1 }]);
});

test("a function to call keeps its starter code", async () => {
  const input_output = JSON.stringify({ fn_name: "twice", inputs: [[1]], outputs: [[2]] });
  const { kept } = await readAs(spec, [row({ input_output, starter_code: "def twice(n):\n\t" })]);
  expect(kept[0]).toMatchObject({
    question: expect.stringMatching(/called `twice`.*def twice\(n\):/s),
    reference: { input_output, fn_name: "twice" },
  });
});

test("rows of APPS and TACO make one data set, the same problem once", async () => {
  const taco = row({ difficulty: "MEDIUM", question: "Triple the number." });
  const rows = [row(), taco, row({ difficulty: "EASY" }), row({ question: "z", difficulty: "VERY_HARD" })];
  const { kept, report } = await filterRows({ kind: "taco", path: writeRows("both.jsonl", rows) });
  expect(kept.map(({ family, level }) => [family, level])).toEqual([
    ["apps", 0],
    ["taco", 1],
  ]);
  expect(report.leftOut.map(({ reason }) => reason)).toEqual(["difficulty VERY_HARD"]);
  expect(report.duplicates.map(({ rows: n }) => n)).toEqual([1]);
});
