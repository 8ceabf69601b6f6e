import { expect, test } from "vitest";
import {
  conditionedTable,
  domainTable,
  mixtureDomains,
  mixtureTable,
  overviewTable,
  trainingTable,
} from "../../lib/sweeps/tables.ts";
import { answersTo, syntheticCell } from "./synthetic-cells.ts";

const base = syntheticCell("base", [
  { seed: 0, before: { math: [0.1, 50] }, after: { math: [0.5, 20] } },
  { seed: 1, before: { math: [0.3, 70] }, after: { math: [0.7, 24] } },
]);
const other = syntheticCell("other", [
  { seed: 0, after: { math: [0.6, 1500] } },
  { seed: 1, after: { math: [0.7, 1500.4] } },
]);

test("a row a cell: mean, deviation, interval, and differences from the first seed by seed", () => {
  const { head, rows } = overviewTable([base, other]);
  expect(head.slice(0, 4)).toEqual(["cell", "runs", "score", "95 %"]);
  // 0.5, 0.7: deviation 0.1414, half-width 12.7062 * 0.1; 20, 24: deviation 2.828, half-width 25.412
  expect(rows[0]).toEqual([
    "base",
    "2",
    "0.600 ± 0.141",
    "−0.671 to 1.871",
    "60.0 ± 14.1",
    "22.0 ± 2.8",
    "−3.4 to 47.4",
    "",
    "",
    "",
    "",
  ]);
  expect(rows[1]).toEqual([
    "other",
    "2",
    "0.650 ± 0.071",
    "0.015 to 1.285",
    "65.0 ± 7.1",
    "1500 ± 0.3",
    "1498 to 1503",
    "+0.050",
    "−0.585 to +0.685",
    "+1478",
    "+1455 to +1501",
  ]);
});

test("what training was like: entropy and groups kept at its end, clip and lag of all steps, and nothing for what was not logged", () => {
  const sync = { "lag/mean": [0, 0, 0, 0, 0], "clip/tokens": [0.1, 0.2, 0.3, 0.4, 0.5] };
  const runs = [0, 1].map((seed) => ({
    seed,
    after: { math: [0.5, 20] as const },
    metrics: { "entropy/mean": [9, 9, 9, 9, 0.25 + seed / 2], ...sync },
  }));
  const late = {
    seed: 0,
    after: { math: [0.5, 20] as const },
    metrics: { "lag/mean": [0, 1, 2], "lag/max": [0, 2, 4] },
  };
  const { head, rows } = trainingTable([syntheticCell("sync", runs), syntheticCell("async", [late])]);
  expect(head).toEqual([
    "cell",
    "entropy",
    "groups kept, %",
    "tokens clipped, %",
    "lag",
    "most lag",
    "replayed, %",
  ]);
  expect(rows).toEqual([
    ["sync", "0.50 ± 0.35", "–", "30.0 ± 0.0", "0.00 ± 0.00", "–", "–"],
    ["async", "–", "–", "–", "1.00", "2.00", "–"],
  ]);
});

test("a row an arm and one before training, accuracy and tokens by domain and of their mean", () => {
  const { head, rows } = domainTable([base, other]);
  expect(head).toEqual(["", "mean acc", "tok", "math acc", "tok"]);
  expect(rows.map(([name, ...cells]) => [name, cells.slice(0, 2)])).toEqual([
    ["before training", ["20.0 ± 14.1", "60.0"]],
    ["base", ["60.0 ± 14.1", "22.0"]],
    ["other", ["65.0 ± 7.1", "1500"]],
  ]);
});

test("lengths by difficulty: the second arm less the first", () => {
  const arm = (name: string, tokens: readonly [number, number]) =>
    syntheticCell(name, [
      {
        seed: 0,
        after: { math: [0, 0] },
        answers: { before: [answersTo("p", [1, 1], [1, 1])], after: [answersTo("p", [1, 0], tokens)] },
      },
    ]);
  const { head, rows } = conditionedTable(arm("LP", [10, 30]), arm("DAP", [7, 42]));
  expect(head).toEqual([
    "solved before, %",
    "n",
    "acc, LP",
    "DAP",
    "correct tok, LP",
    "DAP",
    "Δ",
    "incorrect tok, LP",
    "DAP",
    "Δ",
  ]);
  expect(rows[3]).toEqual(["[75, 100]", "1", "50.0", "50.0", "10.0", "7.0", "−3.0", "30.0", "42.0", "+12.0"]);
  expect(rows[0]).toEqual(["[0, 25)", "0", ...Array(8).fill("–")]);
});

test("shares against their targets at the last step", () => {
  const arm = (name: string, shares: readonly (readonly [number, number])[]) =>
    syntheticCell(
      name,
      shares.map(([math, mad], seed) => ({
        seed,
        after: { math: [0, 0] },
        metrics: {
          "mixture/target/math": [0.75, 0.75],
          "mixture/target/code": [0.25, 0.25],
          "mixture/completed/math": [0, math],
          "mixture/completed/code": [1, 1 - math],
          "mixture/completed/mad": [1, mad],
        },
      })),
    );
  const arms = [
    arm("static", [
      [0.7, 0.05],
      [0.72, 0.03],
    ]),
    arm("adaptive", [[0.75, 0]]),
  ];
  expect(mixtureDomains(arms)).toEqual(["math", "code"]);
  expect(mixtureTable(arms, "completed").rows).toEqual([
    ["math", "75.00", "71.00 ± 1.41", "75.00"],
    ["code", "25.00", "29.00 ± 1.41", "25.00"],
    ["mean absolute deviation, points", "", "4.00 ± 1.41", "0.00"],
  ]);
  expect(mixtureTable(arms, "trained").rows[0]).toEqual(["math", "75.00", "–", "–"]);
});
