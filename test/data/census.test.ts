import { expect, test } from "vitest";
import {
  counted,
  type DatasetReport,
  reportLine,
  rowWarnings,
  Tallies,
  UNASKED,
} from "../../lib/data/census.ts";

test("tallies come most frequent first, ties by name, with the first five places", () => {
  const tallies = new Tallies();
  for (let i = 1; i <= 7; i++) tallies.add("often", `f:${i}`);
  tallies.add("b", "f:8");
  tallies.add("a", "f:9");
  expect(tallies.list()).toEqual([
    { reason: "often", rows: 7, first: ["f:1", "f:2", "f:3", "f:4", "f:5"] },
    { reason: "a", rows: 1, first: ["f:9"] },
    { reason: "b", rows: 1, first: ["f:8"] },
  ]);
  expect(tallies.rows).toBe(9);
});

test("reasons named like members of every object are counted too", () => {
  const tallies = new Tallies();
  for (const reason of ["__proto__", "constructor", "__proto__"]) tallies.add(reason, "f:1");
  expect(tallies.list().map(({ reason, rows }) => [reason, rows])).toEqual([
    ["__proto__", 2],
    ["constructor", 1],
  ]);
});

test("a line for people has every count and where to look first", () => {
  const report: DatasetReport = {
    kind: "taco",
    files: 2,
    otherFiles: [],
    rows: 25_443,
    training: 14_000,
    heldOut: 1500,
    bad: [
      { reason: "not JSON", rows: 2, first: ["a.jsonl:7", "a.jsonl:9"] },
      { reason: "no tests", rows: 1, first: ["a.jsonl:8"] },
    ],
    leftOut: [{ reason: "difficulty HARD", rows: 9940, first: ["a.jsonl:1"] }],
    duplicates: [],
  };
  expect(reportLine(report)).toBe(
    "taco: 25,443 rows: 14,000 to train on, 1,500 held out, 3 bad (not JSON: 2, first a.jsonl:7; no tests: 1, first a.jsonl:8), 9,940 left out (difficulty HARD: 9,940, first a.jsonl:1)",
  );
  expect(reportLine({ ...report, bad: [], leftOut: [] })).toBe(
    "taco: 25,443 rows: 14,000 to train on, 1,500 held out",
  );
});

test("one of a thing is said as one", () => {
  expect([counted(0, "row"), counted(1, "row"), counted(1234, "file")]).toEqual([
    "0 rows",
    "1 row",
    "1,234 files",
  ]);
});

test("rows that cannot be used are told where they are more than a tenth, with the most frequent reason", () => {
  const bad = [
    { reason: "empty", rows: 1, first: ["a:1"] },
    { reason: "not JSON", rows: 2, first: ["a:5", "a:6"] },
  ];
  expect(rowWarnings({ rows: 29, bad })).toEqual([
    "3 of 29 rows cannot be used (not JSON: 2, first a:5); `hone data check` lists them",
  ]);
  expect(rowWarnings({ rows: 30, bad })).toEqual([]);
  expect(rowWarnings({ rows: 0, bad: [] })).toEqual([]);
});

test("questions that do not ask for the form that is judged are told where they are most", () => {
  const answers = (asking: number) => [
    { reason: `answer${UNASKED}`, rows: 6, first: ["a:1"] },
    { reason: "answer", rows: asking, first: ["a:2"] },
  ];
  expect(rowWarnings({ rows: 20, bad: [], answers: answers(5) })).toEqual([
    expect.stringContaining("6 of 11 questions do not ask for \\boxed{}"),
  ]);
  expect(rowWarnings({ rows: 20, bad: [], answers: answers(6) })).toEqual([]);
});
