import { expect, test } from "vitest";
import { tracesFigures } from "../../lib/traces/figures.ts";

const of = (name: string, percent: boolean, value?: number) => ({
  name,
  percent,
  sides: [value === undefined ? undefined : { value, interval: { low: value / 2, high: 2 * value } }],
});
const counts = { traces: 1, problems: 1, steps: 1, unclassified: 0, outages: {}, unsplit: 0 };
const measures = {
  unit: "tokens" as const,
  sides: [{ name: "a", ...counts }],
  sizes: [
    of("steps per trace", false, 3),
    of("tokens per trace", false, 300),
    of("tokens per step", false, 100),
    of("steps per trace, right answers", false),
  ],
  ofSteps: [of("verification", true, 0.2)],
  ofLength: [of("verification", true)],
};

test("draws what there is, with intervals, in shares or sizes; a picture of nothing is left out", () => {
  expect(tracesFigures(measures).map(({ title, percent, rows }) => [title, percent, rows])).toEqual([
    ["What steps do", true, [{ label: "verification", bars: [{ value: 0.2, low: 0.1, high: 0.4 }] }]],
    ["Steps per trace", false, [{ label: "all", bars: [{ value: 3, low: 1.5, high: 6 }] }]],
    ["Length of a step", false, [{ label: "all", bars: [{ value: 100, low: 50, high: 200 }] }]],
  ]);
});
