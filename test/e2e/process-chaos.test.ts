import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nativeCore } from "../../lib/orchestration/index.ts";
import { lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { longest } from "../long.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";
import { chaos, groupChecks } from "./process-chaos.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-chaos-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const submit = (g: number, v: number) => ({ e: "submit", g, d: "math", i: g, v });
const group = (g: number) => ({ e: "group", g, r: [] });
const step = (s: number, k: number[]) => ({ e: "step", s, v: s + 1, k });
const END = { e: "end", s: 5, v: 5, w: "hash" };

function verdicts(...events: object[]) {
  writeFileSync(join(dir, "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const { checks, ...rest } = groupChecks(dir, 1);
  return { ...rest, passed: checks.map(({ passed }) => passed) };
}

test("a record in which every group is settled once, or is still young, holds", () => {
  const whole = [submit(0, 0), submit(1, 0), submit(2, 4), group(0), group(1), step(0, [0]), END];
  expect(verdicts(...whole)).toEqual({ steps: 5, weights: "hash", passed: [true, true] });
});

test("a group that never came back is lost; one trained twice, or never submitted, is found", () => {
  expect(verdicts(submit(0, 0), submit(1, 0), group(0), step(0, [0]), END).passed).toEqual([false, true]);
  const twice = [submit(0, 0), group(0), step(0, [0]), step(1, [0]), END];
  expect(verdicts(...twice).passed).toEqual([true, false]);
  expect(verdicts(submit(0, 0), group(0), group(0), step(0, [0]), END).passed).toEqual([true, false]);
  expect(verdicts(submit(0, 0), group(0), step(0, [0, 9]), END).passed).toEqual([true, false]);
  expect(verdicts(submit(0, 0), group(0), END).passed).toEqual([true, false]); // no step was trained
});

test("a recipe of one process is refused, with what to give", async () => {
  const options = { recipe: smallRecipe(), seed: 0, seconds: 1, dir, core: await nativeCore() };
  await expect(chaos(options)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    hint: expect.stringContaining("--processes"),
  });
});

test("processes with a GPU each are refused where there are fewer GPUs, before anything starts", async () => {
  const core = await nativeCore();
  const cuda = { ...core.info().cuda, devices: ["NVIDIA H100"] };
  const one = { ...core, info: () => ({ ...core.info(), cuda }) };
  const hardware = { processes: { actors: 2, trainers: 1 } };
  const recipe = { ...smallRecipe({}, { hardware }), device: "cuda" as const };
  await expect(chaos({ recipe, seed: 0, seconds: 1, dir, core: one })).rejects.toMatchObject({
    code: "HONE_ERR_UNSUPPORTED",
    message: expect.stringContaining("3 processes sample and train, with a GPU each, and this machine has 1"),
  });
});

test("a seed's folder that is in use is refused before anything starts, and is no seed's failure", async () => {
  const recipe = smallRecipe({}, { hardware: { processes: { actors: 1, trainers: 0 } } });
  const options = { recipe, seed: 4, seconds: 1, dir, core: await nativeCore(), store: "nats://nowhere" };
  const folder = join(dir, "seed-4");
  {
    using _ = await lockFolder(folder);
    await expect(chaos(options)).rejects.toThrow(`${folder} belongs to a run that is under way`);
  }
  await expect(chaos(options)).rejects.toThrow("nats://nowhere");
});

test("a store where nobody could meet is refused, and is no seed's failure", async () => {
  const recipe = smallRecipe({}, { hardware: { processes: { actors: 1, trainers: 0 } } });
  const options = { recipe, seed: 0, seconds: 1, dir, core: await nativeCore(), store: "memory:" };
  await expect(chaos(options)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test.runIf(longest).each(["sync", "async"] as const)(
  "seconds of faults in a real run of schedule %s: every check holds",
  async (schedule) => {
    const recipe = smallRecipe(
      { steps: 1_000_000, schedule, maxLag: 1 },
      {
        advantages: { divideBy: "none", filter: "none" },
        objective: { entropyCoef: 0.1 },
        optimizer: { lr: 1e-3, warmupSteps: 0 },
        hardware: { processes: { actors: 2, trainers: 1, verifiers: 2 } },
      },
    );
    const at = join(dir, schedule);
    const report = await chaos({ recipe, seed: 6, seconds: 9, dir: at, core: await nativeCore() });
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(report.checks.map(({ name }) => name).at(-1)).toMatch(
      schedule === "sync" ? /undisturbed/ : /replays/,
    );
    expect(report.struck).toBe(report.faults.length);
    expect(report.steps).toBeGreaterThan(0);
  },
  patient(240_000),
);
