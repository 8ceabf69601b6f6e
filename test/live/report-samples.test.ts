import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeReport } from "../../lib/live/index.ts";
import { reportSamples } from "../../lib/live/report-samples.ts";
import { Watch } from "../../lib/live/watch.ts";
import type { ReportSamples } from "../../lib/live/wire.ts";
import { boxed, ConstructedRun } from "../samples/constructed-run.ts";
import { smallRun } from "./live-run.ts";

async function of(dir: string): Promise<ReportSamples | undefined> {
  const watch = new Watch([dir]);
  try {
    return await reportSamples(watch);
  } finally {
    watch.close();
  }
}

/** A run of nine steps with two domains; in its last step `code` repeats one text. */
function run(text = (step: number, attempt: number) => boxed(10 * step + attempt), members = 4): string {
  const dir = smallRun(9);
  using constructed = new ConstructedRun(dir);
  for (let step = 1; step <= 9; step++)
    constructed.step(
      ...["math", "code"].map((domain) => ({
        problem: step,
        domain,
        said: Array.from({ length: members }, (_, attempt) => ({
          text: text(step, attempt),
          status: attempt === 0 ? ("correct" as const) : ("wrong" as const),
          tokens: 10 * step + attempt,
        })),
      })),
    );
  return dir;
}

test("of each domain the best, the worst and the longest of an early, a middle and a late part", async () => {
  const { of: all, samples, shown } = (await of(run()))!;
  expect(all).toBe(9 * 2 * 4);
  for (const domain of ["math", "code"])
    for (const steps of [
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
    ]) {
      const part = samples.filter((one) => one.domain === domain && steps.includes(one.step));
      expect(part.filter(({ status }) => status === "correct").length).toBeGreaterThanOrEqual(2);
      expect(part.filter(({ status }) => status === "wrong").length).toBeGreaterThanOrEqual(2);
      expect(Math.max(...part.map(({ tokens }) => tokens))).toBe(10 * steps[2]! + 3);
    }
  expect(new Set(samples.map(({ row }) => row)).size).toBe(samples.length);
  for (const { row, step, attempt } of samples)
    expect(shown[row]).toMatchObject({ step, attempt, response: expect.stringContaining("boxed") });
});

test("they come with their groups, whole where there is room: how many of all members were right", async () => {
  const { samples, groups } = (await of(run()))!;
  expect(groups.length).toBeGreaterThan(10);
  for (const group of groups) {
    const { step, domain, members, judged, solved, rows } = group;
    expect([members, judged, solved, rows.length]).toEqual([4, 4, 1, 4]);
    const own = samples.filter((one) => one.step === step && one.domain === domain);
    expect(own.map(({ row }) => row).sort((a, b) => a - b)).toEqual(rows);
  }
  expect(samples).toHaveLength(4 * groups.length);
});

test("a file stays small, whatever was written: two ends of a long text, and as many as there is room for", async () => {
  const dir = run((step, attempt) => `${step} ${attempt} ${"y".repeat(200_000)} end`, 8);
  const { samples, groups, shown } = (await of(dir))!;
  expect(samples.length).toBeGreaterThan(10);
  // the list is shortened, but the numbers describe the whole group
  expect(groups.some(({ rows, members }) => rows.length < members)).toBe(true);
  for (const { members, solved } of groups) expect([members, solved]).toEqual([8, 1]);
  expect(Object.keys(shown)).toHaveLength(samples.length);
  const [first] = Object.values(shown);
  expect(first!.response.length).toBeLessThan(8200);
  expect(first!.response).toMatch(/ end$/);
  expect(statSync(await writeReport(dir)).size).toBeLessThan(2e6);
});

test("a run that judged nothing has none, and a damaged journal costs a report its samples alone", async () => {
  expect(await of(smallRun(2))).toBeUndefined();
  const dir = run();
  appendFileSync(join(dir, "verdicts.jsonl"), "damaged\nand more\n");
  expect(await of(dir)).toBeUndefined();
  const report = readFileSync(await writeReport(dir), "utf8");
  expect([report.includes('"series":'), report.includes('"shown":')]).toEqual([true, false]);
});
