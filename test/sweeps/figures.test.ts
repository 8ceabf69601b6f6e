import { expect, test } from "vitest";
import { curveFigures, mixtureFigures, scatterFigures } from "../../lib/sweeps/figures.ts";
import { syntheticCell } from "./synthetic-cells.ts";

const cell = (name: string, shift: number) =>
  syntheticCell(
    name,
    [0, 1].map((seed) => ({
      seed,
      after: { math: [0.5 + shift, 20 + seed], code: [0.7, 30] },
      metrics: {
        "score/mean": [0.1 + shift, 0.2 + seed / 10, 0.4],
        "entropy/mean": [0.3, 0.3, 0.3],
        "mixture/target/math": [0.5, 0.5, 0.5],
        "mixture/trained/math": [0.2, 0.3, 0.4 + shift],
        "mixture/trained/mad": [0.3, 0.2, 0.1 - shift],
      },
    })),
  );
const cells = [cell("a", 0), cell("b", 0.05)];

test("every cell has its line in each figure of what was logged; what never moves has none", () => {
  const figures = curveFigures(cells);
  expect(figures.map(({ title }) => title)).toEqual(["Score"]);
  expect(curveFigures(cells, ["Length"])).toEqual([]);
  expect(figures[0]!.lines!.map(({ label, hue }) => [label, hue])).toEqual([
    ["a", 0],
    ["b", 1],
  ]);
  const { points, band } = figures[0]!.lines![1]!;
  expect(points.map(([step]) => step)).toEqual([1, 2, 3]);
  expect(points[1]![1]).toBeCloseTo(0.25, 9);
  expect([band!.low[1], band!.high[1]].map((v) => v!.toFixed(4))).toEqual(["0.1793", "0.3207"]);
});

test("a mark a cell for the mean of the domains, and for each domain", () => {
  expect(scatterFigures(cells, false)).toHaveLength(1);
  const panels = scatterFigures(cells, true);
  expect(panels.map(({ title }) => title.split(": ")[1])).toEqual(["mean of the domains", "math", "code"]);
  expect(panels[1]!.marks![1]).toEqual({
    label: "b",
    hue: 1,
    x: 20.5,
    y: 0.55,
    xError: Math.SQRT1_2,
    yError: 0,
  });
});

test("the mixture: distances of all arms in one figure, then each arm's shares with their targets", () => {
  const figures = mixtureFigures(cells, "trained");
  expect(figures.map(({ title, lines }) => [title, lines!.map(({ label, look }) => [label, look])])).toEqual([
    [
      "Distance from the mixture, trained",
      [
        ["a", undefined],
        ["b", undefined],
      ],
    ],
    [
      "Mixture over time, a: trained",
      [
        ["math, target", "reference"],
        ["math", undefined],
      ],
    ],
    [
      "Mixture over time, b: trained",
      [
        ["math, target", "reference"],
        ["math", undefined],
      ],
    ],
  ]);
  expect(mixtureFigures(cells, "completed").map(({ title }) => title)).not.toContain(
    "Distance from the mixture, completed",
  );
});
