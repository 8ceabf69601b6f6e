import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ProblemQuery, problems, query, SampleIndex, takings } from "../../lib/samples/index.ts";
import { problemStatistics } from "../../lib/samples/problems.ts";
import { ConstructedRun, type Said } from "./constructed-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
let texts = 0;
const solved = (count: number, of: number, tokens = 10): Said[] =>
  Array.from({ length: of }, (_, i) => ({
    text: `${texts++}`,
    status: i < count ? "correct" : "wrong",
    tokens,
  }));

async function sample(): Promise<SampleIndex> {
  {
    using run = new ConstructedRun(folder.path);
    run.step({ problem: 1, said: solved(0, 4) }, { problem: 2, said: solved(4, 4) });
    run.step({ problem: 1, said: [...solved(3, 3, 20), { text: "lost", status: "unscored", tokens: 20 }] });
    run.step({ problem: 3, said: solved(0, 2) }, { problem: 3, domain: "code", said: solved(1, 2, 99) });
    run.step({ problem: 2, said: [{ text: "x", status: "unscored", finish: "length", reward: 0 }] });
  }
  return SampleIndex.open(folder.path);
}

test("a row a problem, counted over its groups", async () => {
  const index = await sample();
  const rows = problemStatistics(index);
  expect(rows).toHaveLength(4);
  expect(rows[0]).toEqual({
    first: 0,
    domain: "math",
    problem: 1,
    family: "chain",
    level: 2,
    groups: 2,
    judged: 7,
    unscored: 1,
    solved: 3,
    solveRate: 3 / 7,
    firstRate: 0,
    lastRate: 1,
    firstStep: 1,
    lastStep: 2,
    meanTokens: 15,
  });
  expect(rows[1]).toMatchObject({ problem: 2, groups: 2, judged: 4, unscored: 1, firstRate: 1, lastRate: 0 });
});

test("kinds and orders", async () => {
  const index = await sample();
  const names = async (asked: ProblemQuery) =>
    (await problems(index, asked)).problems.map(({ domain, problem }) => `${domain[0]}${problem}`);
  expect(await names({})).toEqual(["m3", "m1", "c3", "m2"]);
  expect(await names({ kind: "never" })).toEqual(["m3"]);
  expect(await names({ kind: "always" })).toEqual(["m2"]);
  expect(await names({ kind: "sometimes" })).toEqual(["m1", "c3"]);
  expect(await names({ kind: "flipped" })).toEqual(["m1", "m2"]);
  expect(await names({ domain: "code" })).toEqual(["c3"]);
  expect(await names({ order: "easiest" })).toEqual(["m2", "c3", "m1", "m3"]);
  expect(await names({ order: "gained", limit: 1 })).toEqual(["m1"]);
  expect(await names({ order: "lost", limit: 1 })).toEqual(["m2"]);
  expect(await names({ order: "longest", limit: 1 })).toEqual(["c3"]);
  expect(await names({ order: "most", limit: 1 })).toEqual(["m1"]);
  expect(await problems(index, { offset: 1, limit: 1 })).toMatchObject({
    total: 4,
    problems: [{ problem: 1 }],
  });
});

test("the same problem over time, a row a group", async () => {
  const index = await sample();
  expect(takings(index, "math", 1).map(({ rows: _, ...taking }) => taking)).toEqual([
    {
      step: 1,
      group: 1,
      judged: 4,
      unscored: 0,
      solved: 0,
      solveRate: 0,
      truncated: 0,
      meanTokens: 10,
      meanReward: 0,
    },
    {
      step: 2,
      group: 3,
      judged: 3,
      unscored: 1,
      solved: 3,
      solveRate: 1,
      truncated: 0,
      meanTokens: 20,
      meanReward: 1,
    },
  ]);
  const [, lost] = takings(index, "math", 2);
  expect(lost).toEqual({
    step: 4,
    group: 6,
    judged: 0,
    unscored: 1,
    solved: 0,
    solveRate: 0,
    truncated: 1,
    meanTokens: 10,
    rows: [expect.any(Number)],
  });
  expect(takings(index, "math", 77)).toEqual([]);
});

test("a problem whose run goes on with it is one problem", async () => {
  await sample();
  {
    using run = new ConstructedRun(folder.path, 4);
    run.step({ problem: 1, said: solved(4, 4) });
  }
  const index = await SampleIndex.open(folder.path);
  expect(problemStatistics(index)[0]).toMatchObject({ problem: 1, groups: 3, solved: 7, lastStep: 5 });
  expect(takings(index, "math", 1)).toHaveLength(3);
});

test("a row of a data set is one problem, whichever id each draw of it has", async () => {
  const [one, other] = ["Sort 3 1 2", "Sort 9 8"];
  {
    using run = new ConstructedRun(folder.path);
    run.step({ problem: 10, question: one, row: "rows.jsonl:1", said: solved(0, 2) });
    run.step({ problem: 11, question: other, row: "rows.jsonl:2", said: solved(1, 2) });
    run.step({ problem: 12, question: one, row: "rows.jsonl:1", said: solved(2, 2) });
  }
  {
    using run = new ConstructedRun(folder.path, 3);
    run.step({ problem: 13, question: one, row: "rows.jsonl:1", said: solved(2, 2) });
    run.step({ problem: 14, question: one, reference: "other", row: "rows.jsonl:3", said: solved(2, 2) });
  }
  const index = await SampleIndex.open(folder.path);
  const { problems: listed } = await problems(index, { order: "gained" });
  expect(listed).toMatchObject([
    { problem: 10, groups: 3, firstRate: 0, lastRate: 1, begins: one, row: "rows.jsonl:1" },
    { problem: 11, groups: 1, begins: other, row: "rows.jsonl:2" },
    { problem: 14, groups: 1, begins: one, row: "rows.jsonl:3" },
  ]);
  expect(new Set(listed.map(({ identity }) => identity)).size).toBe(3);
  expect(takings(index, "math", 12).map(({ step }) => step)).toEqual([1, 3, 4]);
  expect(query(index, { flippedSince: 1 }).samples.map(({ problem, step }) => [problem, step])).toEqual([
    [10, 4],
    [10, 4],
    [10, 1],
    [10, 1],
  ]);
  expect(query(index, { steps: [4, 4] }).samples[0]).toMatchObject({ problem: 10, drawn: 13 }); // explained by this draw
  const again = await SampleIndex.open(folder.path); // read from the file
  expect((await problems(again, { order: "gained" })).problems).toEqual(listed);
});

test("generated problems are told by their number, though two may ask the same", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({ problem: 1, question: "2 + 2", said: solved(0, 2) });
    run.step({ problem: 2, question: "2 + 2", said: solved(2, 2) });
  }
  expect((await problems(await SampleIndex.open(folder.path))).total).toBe(2);
});

test("a journal of an older version: the prompt and the reference tell a problem", async () => {
  const line = (n: number, prompt: string | undefined) => ({
    ...{
      problem: `${n}`.padStart(32, "0"),
      id: n,
      domain: "math",
      family: "rows",
      level: 0,
      verifier: "math",
    },
    reference: "7",
    ...(prompt !== undefined && { prompt }),
  });
  const taken = (step: number, n: number) => {
    const [of, completion] = [`${n}`.padStart(32, "0"), `${step}`.padStart(32, "a")];
    const member = { completion, attempt: 0, tokens: 3, versions: [0, 0], status: "correct" };
    return [
      { completion, of, finish: "eos", text: `${step}` },
      { step, group: step, of, submittedVersion: 0, members: [member] },
    ];
  };
  const long = `<bos>${"Sort  these. ".repeat(9)}`;
  const prompts = [long, "Other", long, undefined, undefined];
  const lines = prompts.flatMap((prompt, i) => [line(i, prompt), ...taken(i + 1, i)]);
  writeFileSync(join(folder.path, "verdicts.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const { problems: listed } = await problems(await SampleIndex.open(folder.path), { order: "most" });
  expect(listed.map(({ problem, groups, begins }) => [problem, groups, begins])).toEqual([
    [0, 2, "Sort these. ".repeat(5)], // the first sixty characters after <bos>
    [1, 1, "Other"],
    [3, 1, undefined],
    [4, 1, undefined],
  ]);
});
