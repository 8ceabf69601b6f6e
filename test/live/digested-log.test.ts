import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DigestedLog } from "../../lib/live/digested-log.ts";
import { FollowedLog } from "../../lib/live/followed-log.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import { RunLog } from "../../lib/metrics/run-log.ts";
import { addStep, smallRun, temporary } from "./live-run.ts";

const CALLS = "verifier/calls/math";
const P95 = "verifier/p95-ms/math";

/** Writes a log and its digest as a run does. In every fifth step no completion is judged. */
function longRun(steps: number): string {
  const dir = temporary();
  const log = new RunLog(join(dir, RUN_FILES.log), join(dir, RUN_FILES.digest));
  for (let step = 1; step <= steps; step++) {
    const judged = step % 5 > 0 && { [CALLS]: step % 7, "verifier/seconds/math": 0.1 * step, [P95]: 8 };
    log.write({ step, version: step - 1, metrics: { a: Math.sin(step), ...judged, late: step / 3 } });
  }
  log.close();
  return dir;
}

test("is what the log says, a step a point, where that is not too much", () => {
  const dir = longRun(40);
  const [log, whole] = [new DigestedLog(dir), new FollowedLog(dir)];
  whole.look();
  expect(log.series.steps).toEqual(whole.table.steps);
  expect(log.series.versions).toEqual(whole.table.versions);
  expect(Object.keys(log.series.series)).toEqual(whole.table.names);
  expect(log.table.names).toEqual(whole.table.names);
  for (const name of whole.table.names)
    expect(log.series.series[name], name).toEqual(
      whole.table.column(name)!.map((value) => (value === null ? null : Number(value.toPrecision(5)))),
    );
  for (const name of [CALLS, P95]) expect(log.table.column(name)).toEqual(whole.table.column(name));
});

const sumOf = ({ table }: DigestedLog | FollowedLog, name: string) =>
  table.column(name)!.reduce((sum: number, value) => sum + (value ?? 0), 0);

test("of a long run points are means over a multiple of 16 steps, the same from the digest as from the log", () => {
  const dir = longRun(1000);
  const whole = new FollowedLog(dir);
  whole.look();
  const most = 5 * 40; // five metrics allow 25 steps a point, rounded up to 32
  const log = new DigestedLog(dir, most);
  expect(log.series.steps).toEqual([...Array.from({ length: 31 }, (_, i) => 32 * (i + 1)), 1000]);
  expect(log.series.series["late"]![0]).toBe(Number((16.5 / 3).toPrecision(5)));
  expect(log.table.length).toBe(1000 / 16 + 7.5); // 62 points of the digest, and the last eight steps
  expect(sumOf(log, CALLS)).toBe(sumOf(whole, CALLS));
  expect(sumOf(log, "verifier/seconds/math")).toBeCloseTo(sumOf(whole, "verifier/seconds/math"), 6);
  expect(log.table.column(P95)!.at(-2)).toBe(8);
  rmSync(join(dir, RUN_FILES.digest));
  expect(new DigestedLog(dir, most).series).toEqual(log.series);
});

test("below 16 steps a point the points are means over as many steps as fit", () => {
  const log = new DigestedLog(longRun(100), 5 * 40);
  expect(log.series.steps.slice(0, 2)).toEqual([3, 6]);
  expect(log.series.steps.at(-1)).toBe(100);
  expect(log.series.series["late"]![0]).toBe(0.66667);
});

test("damaged lines, and steps that a session replaced, do not count", () => {
  const dir = smallRun(5);
  appendFileSync(join(dir, RUN_FILES.log), "rubbish\n");
  addStep(dir, 3, { a: 30, new: 1 });
  const log = new DigestedLog(dir);
  expect(log.series).toEqual({
    steps: [1, 2, 3],
    versions: [1, 2, 3],
    series: { a: [1, 2, 30], b: [null, -2, null], new: [null, null, 1] },
  });
  expect(log.damaged).toBe(1);
});

test("a run that has no step has no points", () => {
  const dir = temporary();
  expect(new DigestedLog(dir).series).toEqual({ steps: [], versions: [], series: {} });
  expect(new DigestedLog(smallRun(0)).series).toEqual({ steps: [], versions: [], series: {} });
});
