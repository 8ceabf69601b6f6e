import { describe, expect, test } from "vitest";
import { filterRows, fixture, readAs, sample } from "../../../data/filtered.ts";

const spec = { kind: "taco" } as const;
const io = { inputs: ["1\n", "2\n", "3\n"], outputs: ["2", "4", "6"] };
const row = (more: object = {}) => ({
  question: "Double the number.",
  input_output: JSON.stringify(io),
  difficulty: "EASY",
  ...more,
});
const withTests = (tests: unknown) =>
  row({ input_output: typeof tests === "string" ? tests : JSON.stringify(tests) });

test("a program that reads and writes", async () => {
  const { kept } = await readAs(spec, [row({ solutions: JSON.stringify(["a", "b", "c", "d"]) })]);
  expect(kept).toMatchObject([
    {
      content: "Double the number.",
      question: expect.stringMatching(/^Double the number\.\n\nWrite a Python program .*standard input/s),
      family: "taco",
      level: 0,
      reference: { input_output: JSON.stringify(io) },
    },
  ]);
  expect(kept[0]!.gold!()).toEqual(["a", "b", "c"].map((code) => `\`\`\`python\n${code}\n\`\`\``));
});

test("a function to call is named, with its starter code, unless the question names it", async () => {
  const input_output = JSON.stringify({ fn_name: "twice", inputs: [[1]], outputs: [2] });
  const starter_code = "def twice(n):\n";
  const { kept } = await readAs(spec, [
    row({ input_output, starter_code }),
    row({ input_output, question: "Write twice(n)." }),
  ]);
  expect(kept.map(({ question }) => question)).toEqual([
    "Double the number.\n\nThe function is called `twice`.\n\nStart from this:\n```python\ndef twice(n):\n```\n\nWrite it in Python. Put all of it in one ```python block.",
    "Write twice(n).\n\nWrite it in Python. Put all of it in one ```python block.",
  ]);
  expect(kept[0]!.reference).toEqual({ input_output, fn_name: "twice" });
});

test("difficulties are levels, and the two hardest are left out unless other ones are named", async () => {
  const names = ["EASY", "MEDIUM", "MEDIUM_HARD", "HARD", "VERY_HARD", "UNKNOWN_DIFFICULTY"];
  const rows = names.map((difficulty) => row({ question: difficulty, difficulty }));
  const byDefault = await readAs(spec, rows);
  expect(byDefault.kept.map(({ content, level }) => [content, level])).toEqual([
    ["EASY", 0],
    ["MEDIUM", 1],
    ["MEDIUM_HARD", 2],
    ["UNKNOWN_DIFFICULTY", 0],
  ]);
  expect(byDefault.leftOut).toEqual({ "difficulty HARD": 1, "difficulty VERY_HARD": 1 });
  const chosen = await readAs({ ...spec, dropDifficulties: ["EASY"] }, rows);
  expect(chosen.kept.map(({ level }) => level)).toEqual([1, 2, 3, 4, 0]);
});

describe("the first tests alone", () => {
  test("are kept to the letter: integers of any size, 1.0 apart from 1", async () => {
    const digits = "9".repeat(5000);
    const json = `{"inputs": [[${digits}, 1.0], [[2]], [3]], "fn_name": "f", "outputs": [1e400, "x", 3]}`;
    const { kept, bad } = await readAs({ ...spec, maxTests: 2 }, [row({ input_output: json })]);
    expect(bad).toEqual({});
    expect(kept[0]!.reference).toEqual({
      input_output: `{"fn_name": "f", "inputs": [[${digits}, 1.0], [[2]]], "outputs": [1e400, "x"]}`,
      fn_name: "f",
    });
  });

  test("are all where there are no more", async () => {
    const { kept } = await readAs({ ...spec, maxTests: 3 }, [row()]);
    expect(kept[0]!.reference).toEqual({ input_output: JSON.stringify(io) });
  });
});

test.each([
  [withTests('{"inputs": ["1"], "outputs": ["1"'), "input_output: not JSON with inputs and outputs"],
  [withTests({ inputs: ["1"] }), "input_output: not JSON with inputs and outputs"],
  [withTests({ inputs: "1", outputs: "1" }), "input_output: not JSON with inputs and outputs"],
  [withTests([1]), "input_output: not JSON with inputs and outputs"],
  [withTests({ inputs: [], outputs: [] }), "input_output: no tests"],
  [withTests({ inputs: ["1", "2"], outputs: ["1"] }), "input_output: not as many outputs as inputs"],
  [withTests({ ...io, fn_name: 3 }), "input_output: fn_name is no name"],
  [withTests({ ...io, fn_name: "f(); g" }), "input_output: fn_name is no name"],
  [row({ question: "" }), "question: empty"],
  [row({ difficulty: undefined }), "difficulty: invalid input: expected string, received undefined"],
])("%j is bad", async (bad, reason) => {
  expect((await readAs(spec, [bad])).bad).toEqual({ [reason]: 1 });
});

test("a fn_name of null is none; solutions that are no list are no gold", async () => {
  const { kept } = await readAs(spec, [row({ ...withTests({ ...io, fn_name: null }), solutions: "{" })]);
  expect(Object.keys(kept[0]!.reference as object)).toEqual(["input_output"]);
  expect(kept[0]!.gold!()).toEqual([]);
});

test("parquet as published", async () => {
  const { kept, leftOut } = await readAs({ ...spec, path: fixture("taco.parquet") }, []);
  expect(kept.map(({ place, level }) => [place, level])).toEqual([
    ["taco.parquet:1", 0],
    ["taco.parquet:3", 2],
  ]);
  expect(leftOut).toEqual({ "difficulty HARD": 1 });
  expect(kept[0]!.gold!()).toEqual(["```python\nprint(2 * int(input()))\n```"]);
});

test("every row of the sample is a problem", async ({ skip }) => {
  const path = sample("code/taco_format_problems.jsonl") ?? skip("the reference data are not at hand");
  const { kept, report } = await filterRows({ ...spec, path });
  expect([kept.length, report.bad, report.leftOut]).toEqual([48, [], []]);
});
