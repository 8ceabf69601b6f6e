import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TrainerFace } from "../../../lib/native/face.ts";
import { ReferenceWeights } from "../../../lib/orchestration/recovery/index.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-reference-weights-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Refuses an existing folder, as a trainer does. */
const trainer = {
  save: async (folder: string) => {
    mkdirSync(folder);
    writeFileSync(join(folder, "weights"), "");
  },
} as unknown as TrainerFace;
const there = () => readdirSync(dir).sort();

test("without a checkpoint the newest alone stays, and one that came while it was saved counts", async () => {
  const kept = new ReferenceWeights(dir);
  for (const step of [2, 4, 6]) await kept.save(trainer, step, () => undefined);
  expect(there()).toEqual(["reference-000006"]);
  let checkpoint: number | undefined;
  const slow = {
    save: async (folder: string) => {
      await trainer.save(folder, "");
      checkpoint = 7;
    },
  };
  await kept.save(slow as unknown as TrainerFace, 8, () => checkpoint);
  expect(there()).toEqual(["reference-000006", "reference-000008"]);
});

test("what no run needs that goes on from the oldest checkpoint is removed", async () => {
  const kept = new ReferenceWeights(dir);
  for (const step of [2, 4]) await kept.save(trainer, step, () => 0);
  expect(there()).toEqual(["reference-000002", "reference-000004"]);
  await kept.save(trainer, 6, () => 5);
  expect(there()).toEqual(["reference-000004", "reference-000006"]);
  await kept.save(trainer, 8, () => 3);
  expect(there()).toEqual(["reference-000004", "reference-000006", "reference-000008"]);
  expect(existsSync(kept.at(6))).toBe(true);
  expect(() => kept.at(2)).toThrow("reference-000002 is missing");
});

test("a run that goes on loses those of later steps and what was left half done, and saves a step anew", async () => {
  const kept = new ReferenceWeights(dir);
  for (const step of [2, 4]) await kept.save(trainer, step, () => 0);
  mkdirSync(join(dir, "reference-000006.tmp-12"));
  mkdirSync(join(dir, "step-000003"));
  kept.cut(3);
  expect(there()).toEqual(["reference-000002", "step-000003"]);
  kept.cut(2);
  await kept.save(trainer, 4, () => 2);
  await kept.save(trainer, 4, () => 2);
  expect(there()).toEqual(["reference-000002", "reference-000004", "step-000003"]);
});

test("a folder that is not there yet is made", async () => {
  const kept = new ReferenceWeights(join(dir, "checkpoints"));
  kept.cut(3);
  await kept.save(trainer, 2, () => 0);
  expect(there()).toEqual(["checkpoints"]);
});
