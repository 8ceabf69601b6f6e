import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RecordedRollouts } from "../../lib/live/recorded-range.ts";
import { temporary } from "./live-run.ts";

test("the first and last recorded step with their bytes, again when the folder changes", () => {
  const dir = temporary();
  const recorded = new RecordedRollouts(dir);
  expect(recorded.look()).toBeUndefined();
  const folder = join(dir, "rollouts");
  mkdirSync(folder);
  for (const step of [9, 10, 11])
    writeFileSync(join(folder, `step-${String(step).padStart(6, "0")}.jsonl`), "12345");
  writeFileSync(join(folder, "step-000012.jsonl.tmp"), "being written");
  expect(recorded.look()).toEqual({ from: 9, to: 11, bytes: 15 });
  rmSync(join(folder, "step-000009.jsonl"));
  utimesSync(folder, 1, 1);
  expect(recorded.look()).toEqual({ from: 10, to: 11, bytes: 10 });
});
