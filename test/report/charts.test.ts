import { describe, expect, test } from "vitest";
import { collectStepMetrics, MetricsHistory } from "../../lib/metrics/index.ts";
import { buildCharts, movingMean } from "../../lib/report/charts.ts";
import { SyntheticRun, TARGETS } from "../metrics/synthetic-facts.ts";

const domains = Object.keys(TARGETS);
const run = new SyntheticRun(5, 60);
const history = new MetricsHistory();
const steps = Array.from({ length: 60 }, (_, i) => ({
  step: i + 1,
  version: i + 1,
  metrics: collectStepMetrics(run.step(i + 1), history),
}));
const charts = buildCharts(steps, domains);
const chart = (title: string) => charts.find((c) => c.title === title)!;

describe("a whole run", () => {
  test("has every chart a reader asks for", () => {
    expect(charts.map((c) => c.title)).toEqual([
      "Score per domain",
      "Score and reward",
      "Length per domain",
      "Length by difficulty",
      "Truncated",
      "Mixture against target",
      "Clip fraction",
      "Sequence ratio",
      "Entropy",
      "Gradient norm",
      "Groups",
      "Lag",
      "Time per stage",
      "Throughput",
    ]);
  });

  test("every series has a value or a gap for every step", () => {
    for (const { title, x, series } of charts) {
      expect(x, title).toEqual(steps.map((s) => s.step));
      for (const { values } of series) expect(values, title).toHaveLength(60);
    }
  });

  test("a domain has the same colour everywhere, and targets are dashed", () => {
    const hues = (title: string) => new Map(chart(title).series.map((s) => [s.label, s.hue]));
    for (const domain of domains)
      expect(hues("Score per domain").get(domain)).toBe(hues("Length per domain").get(domain));
    const mixture = chart("Mixture against target").series;
    expect(mixture.filter((s) => s.look === "dashed").map((s) => s.label)).toEqual(
      domains.map((d) => `${d} target`),
    );
  });

  test("levels come in numeric order", () => {
    const labels = chart("Length by difficulty")
      .series.filter((s) => s.look === undefined)
      .map((s) => s.label);
    expect(labels).toEqual(["level 0", "level 1", "level 2", "level 3"]);
  });

  test("a smoothed chart says so and keeps the steps behind it", () => {
    const { note, series } = chart("Score per domain");
    expect(note).toContain("Bold: mean over 3 steps.");
    expect(series.filter((s) => s.look === "faint")).toHaveLength(5);
  });

  test("the stack of stages adds up to the step, but for what is too thin to see", () => {
    const stages = chart("Time per stage").series;
    steps.forEach(({ metrics }, i) => {
      const sum = stages.reduce((total, s) => total + s.values[i]!, 0);
      expect(sum / metrics["time/step"]!).toBeGreaterThan(0.94);
      expect(sum).toBeLessThanOrEqual(metrics["time/step"]! + 1e-9);
    });
  });
});

test("without data there is no chart, and a run without an engine has no throughput of it", () => {
  expect(buildCharts([], domains)).toEqual([]);
  const [only, ...rest] = buildCharts([{ step: 1, version: 1, metrics: { "entropy/mean": 0.5 } }], domains);
  expect([only?.title, rest]).toEqual(["Entropy", []]);
});

test("a moving mean is centred, shorter at the ends, and jumps over gaps", () => {
  expect(movingMean([1, 2, 6, 4], 3)).toEqual([1.5, 3, 4, 5]);
  expect(movingMean([1, null, 3], 3)).toEqual([1, 2, 3]);
  expect(movingMean([null, null, 3, null], 3)).toEqual([null, 3, 3, 3]);
  expect(movingMean([5], 3)).toEqual([5]);
});
