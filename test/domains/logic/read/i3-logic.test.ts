import { expect, test } from "vitest";
import { I3_LOGIC_TASKS } from "../../../../lib/domains/logic/read/i3-logic.ts";
import { filterRows, fixture, readAs, sample } from "../../../data/filtered.ts";

const spec = { kind: "i3-logic" } as const;
const RATE = "avg@16_qwen3_4b_instruct_2507";
const game = (question: string, answer: unknown = "3") => ({ question, answer, difficulty: 2, metadata: {} });
const published = (question: string, rate: number | null = null) => ({
  question,
  info: JSON.stringify({ task: "object_counting", game_data_str: JSON.stringify(game(question)) }),
  [RATE]: rate,
});

test("a published row keeps its game as the text it is", async () => {
  const { kept } = await readAs(spec, [published("How many?")]);
  expect(kept[0]).toMatchObject({
    content: "How many?",
    question: "How many?",
    family: "object_counting",
    level: 2,
    reference: { task: "object_counting", game_data_str: JSON.stringify(game("How many?")) },
  });
});

test("the game may also be an object, in info or as the row itself", async () => {
  const direct = { id: "x", task: "sudoku", game_data: game("Solve.") };
  const { kept } = await readAs(spec, [direct, { question: "Other.", info: { ...direct } }]);
  expect(kept.map(({ question, reference }) => [question, reference])).toEqual([
    ["Solve.", { task: "sudoku", game_data: game("Solve.") }],
    ["Other.", { task: "sudoku", game_data: game("Solve.") }],
  ]);
});

test("tasks beyond the twenty-nine are left out unless they are named", async () => {
  expect(new Set(I3_LOGIC_TASKS).size).toBe(29);
  const rows = ["object_counting", "dyck_language", "bbh_navigate"].map((task) => ({
    task,
    game_data: game(task),
  }));
  expect((await readAs(spec, rows)).leftOut).toEqual({ "task bbh_navigate": 1, "task dyck_language": 1 });
  const chosen = await readAs({ ...spec, tasks: ["dyck_language"] }, rows);
  expect(chosen.kept.map(({ family }) => family)).toEqual(["dyck_language"]);
});

test("a range of solve rates keeps rows inside it and rows without one", async () => {
  const rows = [0, 0.25, 0.75, 1, null].map((rate, i) => published(`Question ${i}`, rate));
  const { kept, leftOut } = await readAs({ ...spec, solveRate: [0.25, 0.75] }, rows);
  expect(kept.map(({ content }) => content)).toEqual(["Question 1", "Question 2", "Question 4"]);
  expect(leftOut).toEqual({ "solve rate outside the wanted range": 2 });
});

test.each([
  [{ question: "x" }, "info.task: invalid input: expected string, received undefined"],
  [{ question: "x", info: "{" }, "info: not JSON"],
  [{ task: "sudoku" }, "game_data: invalid input: expected object, received undefined"],
  [{ task: "sudoku", game_data_str: "[" }, "game_data_str: not JSON"],
  [
    { task: "sudoku", game_data: { answer: 1 } },
    "game_data.question: invalid input: expected string, received undefined",
  ],
])("%j is bad", async (row, reason) => {
  expect((await readAs(spec, [row])).bad).toEqual({ [reason]: 1 });
});

test("the stored answer is offered in every form a game may ask for; none is offered for none", async () => {
  const answers = [
    "yes, no",
    [
      [1, 2],
      [3, 4],
    ],
    7,
    "",
    null,
  ];
  const { kept } = await readAs(
    spec,
    answers.map((answer, i) => ({ task: "sudoku", game_data: game(`Q${i}`, answer) })),
  );
  const [text, grid, number, ...none] = kept.map(({ gold }) => gold!());
  expect(text).toEqual([
    "yes, no",
    "\\boxed{yes, no}",
    "```python\nyes, no\n```",
    "[[yes, no]]",
    "The answer is **yes, no**.",
    "The answer is yes, no.",
  ]);
  expect(grid).toEqual(expect.arrayContaining(["[[1,2],[3,4]]", "[[1 2,3 4]]"]));
  expect(number![1]).toBe("\\boxed{7}");
  expect(none).toEqual([[], []]);
});

test("parquet as published", async () => {
  const { kept, bad, leftOut } = await readAs({ ...spec, path: fixture("i3-logic.parquet") }, []);
  expect(kept.map(({ content, level }) => [content, level])).toEqual([
    ["How many? (1)", 2],
    ["How many? (2)", 2],
  ]);
  expect(bad).toEqual({ "info: not JSON": 1 });
  expect(leftOut).toEqual({ "task bbh_dates": 1 });
});

test("the sample loses the dyck tasks and nothing else", async ({ skip }) => {
  const path = sample("logic/puzzles.jsonl") ?? skip("the reference data are not at hand");
  const { kept, report } = await filterRows({ ...spec, path });
  expect(report.bad).toEqual([]);
  expect(report.leftOut.map(({ reason, rows }) => [reason, rows])).toEqual([
    ["task dyck_language", 8],
    ["task dyck_language_errors", 7],
    ["task dyck_language_reasoning_errors", 4],
  ]);
  expect(kept).toHaveLength(214 - 19);
});
