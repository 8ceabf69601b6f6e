import { expect, test } from "vitest";
import { answerOf, byDomain, ends, examples, meanOf, rise } from "../../../lib/samples/hints/hint.ts";
import { SampleIndex } from "../../../lib/samples/index.ts";
import { boxed, ConstructedRun } from "../constructed-run.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();

test("ends are quarters of the steps that took samples of the domain; what has no verdict is in none", async () => {
  {
    using run = new ConstructedRun(folder.path);
    for (let s = 1; s <= 8; s++)
      run.step(
        { problem: s, said: [{ text: `${s}` }, { text: `lost ${s}`, status: "unscored" }] },
        ...(s > 6 ? [{ domain: "code", said: [{ text: `code ${s}` }] }] : []),
      );
  }
  const index = await SampleIndex.open(folder.path);
  expect([...byDomain(index)].map(([domain, rows]) => [domain, rows.length])).toEqual([
    ["math", 8],
    ["code", 2],
  ]);
  const span = ({ from, to, rows }: { from: number; to: number; rows: readonly number[] }) => [
    from,
    to,
    rows.length,
  ];
  expect(ends(index).map(({ domain, early, late }) => [domain, span(early), span(late)])).toEqual([
    ["math", [1, 2, 2], [7, 8, 2]],
    ["code", [7, 7, 1], [8, 8, 1]],
  ]);
});

test("answers alike have one key, and none has 0", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({
      said: [boxed("1,000"), boxed("1000", "otherwise"), boxed("1001"), "<think>a"].map((text) => ({ text })),
    });
  }
  const index = await SampleIndex.open(folder.path);
  const keys = [0, 1, 2, 3].map((row) => answerOf(index, row));
  expect(keys[0]).toBe(keys[1]);
  expect(keys[2]).not.toBe(keys[0]);
  expect(keys[3]).toBe(0);
});

test("mean, its error and how far means lie apart", () => {
  const values = [1, 2, 3, 4];
  const mean = meanOf([0, 1, 2, 3], (row) => values[row]!);
  expect(mean).toEqual({ n: 4, mean: 2.5, error: Math.sqrt(5 / 3 / 4) });
  expect(rise({ n: 9, mean: 1, error: 3 }, { n: 9, mean: 11, error: 4 })).toBeCloseTo(2, 12);
  expect(rise({ n: 1, mean: 1, error: 0 }, { n: 1, mean: 1, error: 0 })).toBe(0);
});

test("examples are of different groups, the latest first", async () => {
  {
    using run = new ConstructedRun(folder.path);
    for (let s = 0; s < 7; s++) run.step({ problem: s, said: [{ text: `a${s}` }, { text: `b${s}` }] });
  }
  const index = await SampleIndex.open(folder.path);
  expect(examples(index, [...index.live])).toEqual([13, 11, 9, 7, 5]);
  expect(examples(index, [0, 1, 2])).toEqual([2, 1]);
  expect(examples(index, [])).toEqual([]);
});
