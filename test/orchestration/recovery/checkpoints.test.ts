import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  Checkpoints,
  expectSeed,
  momentsOf,
  type RunState,
} from "../../../lib/orchestration/recovery/checkpoints.ts";
import { StandInTrainer } from "../stand-in-core.ts";

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
  const [trainer, checkpoints] = [new StandInTrainer({}), new Checkpoints(dir, { keepLast: 2 })];
  for (const step of [1, 9, 10]) {
    trainer.word = step;
    await checkpoints.save(trainer, stateOf(step));
  }
  expect(checkpoints.list().map((p) => p.split("/").at(-1))).toEqual(["step-000010", "step-000009"]);
  const other = new StandInTrainer({});
  expect(await checkpoints.loadNewest(other, () => {})).toEqual(stateOf(10));
  expect(other.word).toBe(10);
});

test("steps that the rule divides stay, and those that are asked for", async () => {
  const [trainer, checkpoints] = [
    new StandInTrainer({}),
    new Checkpoints(dir, { keepLast: 1, keepEvery: 4 }),
  ];
  checkpoints.kept = new Set([3]);
  for (const step of [2, 3, 4, 5, 6, 8]) await checkpoints.save(trainer, stateOf(step));
  const steps = () => checkpoints.list().map((path) => Number(path.slice(-6)));
  expect(steps()).toEqual([8, 4, 3]);
  checkpoints.kept = new Set();
  await checkpoints.save(trainer, stateOf(9));
  expect(steps()).toEqual([9, 8, 4]);
});

test("no checkpoint is no error; half-made folders are not looked at", async () => {
  mkdirSync(join(dir, "checkpoints", "step-000007.tmp-1"), { recursive: true });
  expect(
    await new Checkpoints(dir, { keepLast: 2 }).loadNewest(new StandInTrainer({}), () => {}),
  ).toBeUndefined();
});

test("what a killed process left half done goes with the next save, and nothing else", async () => {
  const checkpoints = new Checkpoints(dir, { keepLast: 2 });
  const kept = ["notes.tmp-1", "step-000003", "step-000004.txt"];
  for (const name of [...kept, "step-000007.tmp-1", "warm-start.tmp-99", "step-000001.trash"]) {
    mkdirSync(join(checkpoints.directory, name, "inside"), { recursive: true });
  }
  await checkpoints.save(new StandInTrainer({}), stateOf(8));
  expect(readdirSync(checkpoints.directory).sort()).toEqual([...kept, "step-000008"].sort());
});

test("of two saves at once neither takes the other's unfinished folder for a leftover", async () => {
  const checkpoints = new Checkpoints(dir, { keepLast: 1 });
  const folder = join(checkpoints.directory, "step-000008.tmp-1");
  let finish = () => {};
  const slow = new StandInTrainer({});
  slow.save = async () => {
    mkdirSync(folder, { recursive: true });
    await new Promise<void>((resolve) => (finish = resolve));
    expect(existsSync(folder)).toBe(true);
  };
  const one = checkpoints.save(slow, stateOf(8));
  await checkpoints.save(new StandInTrainer({}), stateOf(7));
  finish();
  await one;
  expect(readdirSync(checkpoints.directory)).toEqual(["step-000007"]);
});

test("when all are damaged the last error comes through", async () => {
  mkdirSync(join(dir, "checkpoints", "step-000007"), { recursive: true });
  const warnings: string[] = [];
  await expect(
    new Checkpoints(dir, { keepLast: 2 }).loadNewest(new StandInTrainer({}), (w) => warnings.push(w)),
  ).rejects.toThrow();
  expect(warnings.join()).toContain("step-000007");
});

test("a checkpoint of weights alone is no run to go on with", async () => {
  const [trainer, checkpoints] = [new StandInTrainer({}), new Checkpoints(dir, { keepLast: 2 })];
  await checkpoints.saveStart(trainer);
  await expect(checkpoints.load(trainer, checkpoints.warmStart)).rejects.toMatchObject({
    code: "HONE_ERR_CHECKPOINT",
    hint: expect.stringContaining("startFrom"),
  });
  expect(readdirSync(checkpoints.directory)).toEqual(["warm-start"]);
});

test("what is newer than where a run goes on is set aside: kept, but neither resumed nor counted", async () => {
  const [trainer, checkpoints] = [new StandInTrainer({}), new Checkpoints(dir, { keepLast: 2 })];
  const names = () => readdirSync(checkpoints.directory).sort();
  for (const step of [5, 10]) await checkpoints.save(trainer, stateOf(step));
  expect(checkpoints.setAside(5).map((p) => p.split("/").at(-1))).toEqual(["step-000010.aside-1"]);
  await checkpoints.save(trainer, stateOf(7));
  expect(names()).toEqual(["step-000005", "step-000007", "step-000010.aside-1"]);
  await checkpoints.save(trainer, stateOf(10));
  expect(checkpoints.setAside(7)).toHaveLength(1);
  expect(names()).toEqual(["step-000007", "step-000010.aside-1", "step-000010.aside-2"]);
  expect(await checkpoints.loadNewest(trainer, () => {})).toMatchObject({ step: 7 });
});

test("clearing takes checkpoints of every kind and nothing of somebody else", async () => {
  const checkpoints = new Checkpoints(dir, { keepLast: 2 });
  const ours = [
    "step-000001",
    "step-000002.tmp-77",
    "step-000003.trash",
    "step-000004.aside-1",
    "warm-start",
  ];
  for (const name of [...ours, "mine"]) mkdirSync(join(checkpoints.directory, name), { recursive: true });
  checkpoints.clear();
  expect(readdirSync(checkpoints.directory)).toEqual(["mine"]);
  rmSync(join(checkpoints.directory, "mine"), { recursive: true });
  checkpoints.clear();
  expect(existsSync(checkpoints.directory)).toBe(false);
  checkpoints.clear();
});

test("a checkpoint of a run with another seed is refused", () => {
  expect(() => expectSeed(stateOf(1), { seed: 0 })).not.toThrow();
  expect(() => expectSeed(stateOf(1), { seed: 4 })).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining("with seed 0") }),
  );
});

test("a manifest says how moments were kept; an older one, none and no JSON mean f32", () => {
  expect(momentsOf(dir)).toBe("f32");
  const optimizers = [{ moments: "bf16" }, { moments: "f32" }, { kind: "adamw" }];
  const texts = [...optimizers.map((optimizer) => JSON.stringify({ body: { optimizer } })), "{", "{}"];
  const found = texts.map((text) => {
    writeFileSync(join(dir, "manifest.json"), text);
    return momentsOf(dir);
  });
  expect(found).toEqual(["bf16", "f32", "f32", "f32", "f32"]);
});
