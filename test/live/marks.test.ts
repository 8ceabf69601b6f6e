import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Marks } from "../../lib/live/marks.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-marks-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("tells sessions, checkpoints and what was asked, and passes over everything else", () => {
  const log = join(dir, "events.jsonl");
  const lines = [
    '{"e":"start","c":{"name":"{\\"e\\":\\"note\\""}}',
    '{"e":"submit","g":0,"d":"math","i":1,"v":0}',
    '{"e":"note","s":4,"t":1700,"k":"checkpoint","m":"checkpoint step-000004"}',
    '{"e":"resume","s":4}',
    '{"e":"note","s":5,"t":1800,"k":"control","m":"pause, asked by <b>me</b>"}',
    '{"e":"note","s":7,"f":5,"t":1900,"k":"pause","m":"paused for 3.0 s"}',
    '{"e":"note","s":5,"t":1800,"k":"of another version"}',
    '{"e":"note", damaged',
  ];
  writeFileSync(log, `${lines.join("\n")}\n`);
  const marks = new Marks(dir);
  expect(marks.look()).toBe(true);
  expect(marks.list).toEqual([
    { kind: "checkpoint", step: 4, text: "checkpoint step-000004", atMs: 1700 },
    { kind: "resume", step: 4, text: "resumed at step 4" },
    { kind: "control", step: 5, text: "pause, asked by <b>me</b>", atMs: 1800 },
    { kind: "pause", step: 7, from: 5, text: "paused for 3.0 s", atMs: 1900 },
  ]);
  expect(marks.look()).toBe(false);
  appendFileSync(log, '{"e":"resume","s":9}\n');
  expect(marks.look()).toBe(true);
  expect(marks.list).toHaveLength(5);
});

test("a run without an event log has none", () => {
  const marks = new Marks(dir);
  marks.look();
  expect(marks.list).toEqual([]);
});
