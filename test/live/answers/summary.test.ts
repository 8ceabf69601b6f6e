import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { summary } from "../../../lib/live/answers/summary.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { smallRun } from "../live-run.ts";

test("is null until there is one", () => {
  const dir = smallRun(1);
  const question = { query: new URLSearchParams("run=0"), watch: new Watch([dir]) };
  expect(summary(question)).toBeNull();
  writeFileSync(join(dir, "summary.json"), '{"steps":3}');
  expect(summary(question)).toEqual({ steps: 3, notes: [] });
});

test("says what training changed, at temperature 1 where that is one of the settings", () => {
  const dir = smallRun(1);
  const table = (temperature: number, score: number) => {
    const mean = { score, standardError: 0.03, solveRate: score, meanTokens: 9, truncation: 0, n: 64 };
    return { temperature, mean, domains: { math: mean } };
  };
  const before = [table(0.6, 0.5), table(1, 0.4)];
  const after = [table(0.6, 0.5), table(1, 0.6)];
  writeFileSync(join(dir, "summary.json"), JSON.stringify({ steps: 3, before, after }));
  const question = { query: new URLSearchParams("run=0"), watch: new Watch([dir]) };
  const { setting, change } = summary(question)!.headline!;
  expect([setting, change.is]).toEqual([1, "gain"]);
  expect(change.points).toBeCloseTo(20);
  expect(change.error).toBeCloseTo(100 * Math.sqrt(2 * 0.03 ** 2));
});
