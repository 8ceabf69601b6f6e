import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PrometheusSink, prometheusText, samplesText } from "../../lib/metrics/prometheus.ts";

const LINE =
  /^(?:# TYPE [a-zA-Z_:][a-zA-Z0-9_:]* gauge|[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[a-zA-Z_]+="(?:[^"\\\n]|\\.)*"\})? \S+)$/;

test("every metric is a gauge with a name that Prometheus takes", () => {
  const metrics = {
    "reward/mean": 0.5,
    "ratio/p99.9": 1.25,
    "lag/share/8+": 0,
    "success/instruction-following": 1e-9,
  };
  const text = prometheusText({ step: 7, version: 7, metrics });
  expect(
    text
      .trimEnd()
      .split("\n")
      .filter((line) => !LINE.test(line)),
  ).toEqual([]);
  expect(text).toContain("# TYPE hone_reward_mean gauge\nhone_reward_mean 0.5\n");
  expect(text).toContain("hone_success_instruction_following 1e-9\n");
  expect(text.startsWith("# TYPE hone_step gauge\nhone_step 7\n")).toBe(true);
});

test("labels are escaped", () => {
  const text = prometheusText({ step: 1, version: 1, metrics: { a: 1 } }, { run: 'a"b\\c\nd' });
  expect(text).toContain('hone_a{run="a\\"b\\\\c\\nd"} 1\n');
  expect(
    text
      .trimEnd()
      .split("\n")
      .filter((line) => !LINE.test(line)),
  ).toEqual([]);
});

test("two names that meet keep the first, so that no series occurs twice", () => {
  const text = prometheusText({ step: 1, version: 1, metrics: { "a/b": 1, "a-b": 2 } });
  expect(text.match(/^hone_a_b /gm)).toHaveLength(1);
  expect(text).toContain("hone_a_b 1\n");
});

test("the sink keeps the last step only, and nothing half written beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "hone-prometheus-"));
  const sink = new PrometheusSink(join(folder, "metrics.prom"));
  for (const step of [1, 2]) sink.write({ step, version: step, metrics: { a: step } });
  sink.close();
  expect(readFileSync(join(folder, "metrics.prom"), "utf8")).toBe(
    prometheusText({ step: 2, version: 2, metrics: { a: 2 } }),
  );
  expect(readdirSync(folder)).toEqual(["metrics.prom"]);
  rmSync(folder, { recursive: true });
});

test("samples of one name stand together, each with its labels and those of all", () => {
  const sample = { name: "hone_x_total", type: "counter", help: "How many." } as const;
  const samples = [
    { ...sample, value: 1, labels: { place: 'a"b' } },
    { name: "hone_y", type: "gauge", help: "How much.", value: 0.5 } as const,
    { ...sample, value: 2, labels: { place: "c" } },
  ];
  expect(samplesText(samples, { run: "r" }).split("\n")).toEqual([
    "# HELP hone_x_total How many.",
    "# TYPE hone_x_total counter",
    'hone_x_total{run="r",place="a\\"b"} 1',
    'hone_x_total{run="r",place="c"} 2',
    "# HELP hone_y How much.",
    "# TYPE hone_y gauge",
    'hone_y{run="r"} 0.5',
    "",
  ]);
});
