import { expect, test } from "vitest";
import { type ProblemQuery, problems, SampleIndex, takings } from "../../lib/samples/index.ts";
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
  const names = (asked: ProblemQuery) =>
    problems(index, asked).problems.map(({ domain, problem }) => `${domain[0]}${problem}`);
  expect(names({})).toEqual(["m3", "m1", "c3", "m2"]);
  expect(names({ kind: "never" })).toEqual(["m3"]);
  expect(names({ kind: "always" })).toEqual(["m2"]);
  expect(names({ kind: "sometimes" })).toEqual(["m1", "c3"]);
  expect(names({ kind: "flipped" })).toEqual(["m1", "m2"]);
  expect(names({ domain: "code" })).toEqual(["c3"]);
  expect(names({ order: "easiest" })).toEqual(["m2", "c3", "m1", "m3"]);
  expect(names({ order: "gained", limit: 1 })).toEqual(["m1"]);
  expect(names({ order: "lost", limit: 1 })).toEqual(["m2"]);
  expect(names({ order: "longest", limit: 1 })).toEqual(["c3"]);
  expect(names({ order: "most", limit: 1 })).toEqual(["m1"]);
  expect(problems(index, { offset: 1, limit: 1 })).toMatchObject({ total: 4, problems: [{ problem: 1 }] });
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
