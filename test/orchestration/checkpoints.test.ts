import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Checkpoints, type RunState } from "../../lib/orchestration/checkpoints.ts";
import { StandInTrainer } from "./stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-checkpoints-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const stateOf = (step: number): RunState => ({
  schema: 1,
  step,
  seed: 0,
  draws: { nextGroup: 3, cursors: { math: 3 } },
  sampler: { completed: { math: 8 }, picks: 3 },
  ledger: {},
  outstanding: [{ group: 2, domain: "math", index: 2 }],
  generatedTokens: 10,
  trainingSeconds: 1,
  warmStartSeconds: 0,
  metrics: { steps: step },
});

test("what is saved comes back, newest first, and only the last are kept", async () => {
  const [trainer, checkpoints] = [new StandInTrainer({}), new Checkpoints(dir, 2)];
  for (const step of [1, 9, 10]) {
    trainer.word = step;
    await checkpoints.save(trainer, stateOf(step));
  }
  expect(checkpoints.list().map((p) => p.split("/").at(-1))).toEqual(["step-000010", "step-000009"]);
  const other = new StandInTrainer({});
  expect(await checkpoints.loadNewest(other, () => {})).toEqual(stateOf(10));
  expect(other.word).toBe(10);
});

test("no checkpoint is no error; half-made folders are not looked at", async () => {
  mkdirSync(join(dir, "checkpoints", "step-000007.tmp-1"), { recursive: true });
  expect(await new Checkpoints(dir, 2).loadNewest(new StandInTrainer({}), () => {})).toBeUndefined();
});

test("what a killed process left half done goes with the next save, and nothing else", async () => {
  const checkpoints = new Checkpoints(dir, 2);
  const kept = ["notes.tmp-1", "step-000003", "step-000004.txt"];
  for (const name of [...kept, "step-000007.tmp-1", "warm-start.tmp-99", "step-000001.trash"]) {
    mkdirSync(join(checkpoints.directory, name, "inside"), { recursive: true });
  }
  await checkpoints.save(new StandInTrainer({}), stateOf(8));
  expect(readdirSync(checkpoints.directory).sort()).toEqual([...kept, "step-000008"].sort());
});

test("when all are damaged the last error comes through", async () => {
  mkdirSync(join(dir, "checkpoints", "step-000007"), { recursive: true });
  const warnings: string[] = [];
  await expect(
    new Checkpoints(dir, 2).loadNewest(new StandInTrainer({}), (w) => warnings.push(w)),
  ).rejects.toThrow();
  expect(warnings.join()).toContain("step-000007");
});

test("a checkpoint of weights alone is no run to go on with", async () => {
  const [trainer, checkpoints] = [new StandInTrainer({}), new Checkpoints(dir, 2)];
  await checkpoints.saveStart(trainer);
  await expect(checkpoints.load(trainer, checkpoints.warmStart)).rejects.toMatchObject({
    code: "HONE_ERR_CHECKPOINT",
    hint: expect.stringContaining("startFrom"),
  });
  expect(readdirSync(checkpoints.directory)).toEqual(["warm-start"]);
});
