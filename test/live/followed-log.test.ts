import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FollowedLog, MOST_REPEATED } from "../../lib/live/followed-log.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import { addStep, smallRun } from "./live-run.ts";

test("has what is new at every look, and how many lines were damaged", () => {
  const dir = smallRun(2);
  const log = new FollowedLog(dir);
  expect(log.look().rows.map(({ record }) => record.step)).toEqual([1, 2]);
  appendFileSync(join(dir, RUN_FILES.log), '{"step":\n');
  addStep(dir, 3);
  expect(log.look()).toMatchObject({ rows: [{ record: { step: 3 }, end: log.at.end }], replaced: false });
  expect(log.table.steps).toEqual([1, 2, 3]);
  expect(log.damaged).toBe(1);
});

test("begins anew with another file in the log's place", () => {
  const dir = smallRun(2);
  const log = new FollowedLog(dir);
  log.look();
  const { id } = log.at;
  rmSync(join(dir, RUN_FILES.log));
  addStep(dir, 7);
  expect(log.look()).toMatchObject({ replaced: true, rows: [{ record: { step: 7 } }] });
  expect(log.table.steps).toEqual([7]);
  expect(log.at.id).not.toBe(id);
});

test("tells of as many new steps as are sent one by one, and of one more", () => {
  const log = new FollowedLog(smallRun(MOST_REPEATED + 5));
  expect(log.look().rows).toHaveLength(MOST_REPEATED + 1);
  expect(log.table.length).toBe(MOST_REPEATED + 5);
});
