import { expect, test } from "vitest";
import type { Verdict } from "../../lib/records.ts";
import { compareEvaluations } from "../../lib/suites/compare.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { rescoreEvaluation } from "../../lib/suites/rescore.ts";
import type { Suite } from "../../lib/suites/suite.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "./scripted.ts";

/** A model that solves problem n if `knows(n)`, with `length(n)` tokens. */
async function evaluated(
  model: string,
  knows: (n: number) => boolean,
  length: (n: number) => number,
  suites?: Suite[],
) {
  const dir = scratchFolder();
  const answerer = scripted((problem) => {
    const n = Number(/\d+/.exec(problem.question)![0]);
    return { ...(knows(n) ? right(problem) : said(`${model} guesses \\boxed{-1}`)), tokens: length(n) };
  });
  await evaluateSuites(answerer, suites ?? [sums(8)], { dir, model, seeds: [1], verifiers: judgeHere });
  return dir;
}

test("difference, problems won and lost, and lengths, worked by hand", async () => {
  const before = await evaluated(
    "old",
    (n) => n < 4,
    (n) => 10 * n,
  );
  const after = await evaluated(
    "new",
    (n) => n >= 1 && n < 7,
    (n) => 5 * n + 1,
  );
  const { suites, lengths, alone, ...models } = compareEvaluations(before, after, 0);
  expect([models.before, models.after, alone]).toEqual(["old", "new", []]);
  const [suite] = suites as [(typeof suites)[0]];
  expect(suite).toMatchObject({
    problems: 8,
    accuracy: { before: 0.5, after: 0.75 },
    difference: 0.25,
    won: 3,
    lost: 1,
  });
  expect(suite.tokens).toEqual({ before: 35, after: 18.5 });
  // the interval of the differences (-1, 0, 0, 0, 1, 1, 1, 0), not of two separate samples
  expect(suite.interval!.low).toBeGreaterThanOrEqual(-0.25);
  expect(suite.interval!.high).toBeLessThanOrEqual(0.75);
  expect(
    lengths.map(({ from, to, problems, accuracy }) => [from, to, problems, accuracy.before, accuracy.after]),
  ).toEqual([
    [0, 10, 2, 1, 0.5],
    [20, 30, 2, 1, 1],
    [40, 50, 2, 0, 1],
    [60, 70, 2, 0, 0.5],
  ]);
});

test("changed problems come with their texts, gains and losses in turns", async () => {
  const before = await evaluated(
    "old",
    (n) => n < 2,
    () => 1,
  );
  const after = await evaluated(
    "new",
    (n) => n >= 2,
    () => 1,
  );
  const { changes } = compareEvaluations(before, after, 3);
  expect(changes.map(({ before: b, after: a }) => [b, a])).toEqual([
    [0, 1],
    [1, 0],
    [0, 1],
  ]);
  expect(changes[0]).toMatchObject({
    question: "What is 2 + 2?",
    subject: "even",
    texts: { before: "old guesses \\boxed{-1}", after: "I add.\n\\boxed{4}" },
  });
  expect(changes[1]!.texts).toEqual({ before: "I add.\n\\boxed{0}", after: "new guesses \\boxed{-1}" });
});

test("what an environment said stands in brackets", async () => {
  const folder = async (model: string, last: string) => {
    const dir = scratchFolder();
    const given: readonly number[] = [3, 6, 9, 11];
    const answerer = scripted((problem) => ({ ...right(problem), text: `aaaEEEaaaEE${last}`, given }));
    await evaluateSuites(answerer, [sums(1)], { dir, model, seeds: [1], verifiers: judgeHere });
    return dir;
  };
  const { changes } = compareEvaluations(await folder("old", "no"), await folder("new", "\\boxed{0}"), 1);
  expect(changes[0]!.texts).toEqual({ before: "aaa[EEE]aaa[EE]no", after: "aaa[EEE]aaa[EE]\\boxed{0}" });
});

test("the same twice differs in nothing; suites that one side lacks are named", async () => {
  const always = () => 7;
  const one = await evaluated("one", (n) => n % 2 === 0, always);
  const more = await evaluated("more", (n) => n % 2 === 0, always, [sums(8), sums(2, { name: "other" })]);
  const { suites, changes, alone } = compareEvaluations(one, more);
  expect(suites[0]).toMatchObject({ difference: 0, interval: { low: 0, high: 0 }, won: 0, lost: 0 });
  expect([changes, alone]).toEqual([[], ["other"]]);
});

test("problems that one side lacks are in no number, and counted", async () => {
  const all = await evaluated(
    "all",
    () => true,
    () => 1,
    [sums(8)],
  );
  const some = await evaluated(
    "some",
    () => false,
    () => 1,
    [sums(3)],
  );
  const [suite] = compareEvaluations(all, some).suites;
  expect(suite).toMatchObject({ problems: 3, alone: { before: 5, after: 0 }, difference: -1, lost: 3 });
});

test("texts follow the verdicts that count, and of parts of a score the best and the worst are shown", async () => {
  const folder = async (model: string, scores: readonly number[]) => {
    const dir = scratchFolder();
    const answerer = scripted((_, seed) => said(`${model} ${seed}`));
    const verifiers = {
      verify: async (requests: readonly { readonly text: string }[]): Promise<Verdict[]> =>
        requests.map(({ text }) => {
          const score = scores[Number(text.at(-1))]!;
          return { status: score === 1 ? "correct" : score > 0 ? "partial" : "wrong", score, reason: "ours" };
        }),
    };
    const suite = sums(1, { metric: "score" });
    await evaluateSuites(answerer, [suite], { dir, model, seeds: [0, 1, 2], verifiers });
    return { dir, again: (scores: readonly number[]) => rejudged(dir, scores) };
  };
  const rejudged = (dir: string, scores: readonly number[]) =>
    rescoreEvaluation(dir, {
      all: true,
      verifiers: {
        verify: async (requests) =>
          requests.map(({ text }) => {
            const score = scores[Number(text.at(-1))]!;
            return { status: score > 0 ? "partial" : "wrong", score, reason: "again" };
          }),
      },
    });
  const [before, after] = [await folder("old", [0.2, 0.1, 0.3]), await folder("new", [0.4, 0.6, 0.5])];
  const texts = () => compareEvaluations(before.dir, after.dir, 1).changes[0]!.texts;
  expect(texts()).toEqual({ before: "old 1", after: "new 1" });
  await after.again([0.7, 0.3, 0.5]);
  expect(texts()).toEqual({ before: "old 1", after: "new 0" });
});
