import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chooseMachine } from "../../lib/cli/simulate.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { machineOf, recipeOf } from "../simulate/machines.ts";
import { recordedFleet, recordedRun } from "../simulate/recorded-run.ts";

const dir = mkdtempSync(join(tmpdir(), "simulate-"));

const RECIPE = `import { defineRecipe } from "hone-rl";
export default defineRecipe({
  name: "described",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64 } },
  domains: { math: { weight: 0.6, source: "procedural/math" }, code: { weight: 0.4, source: "procedural/code" } },
  rollouts: { groupSize: 4, maxOutputTokens: 400, maxPromptTokens: 48 },
  lengthPenalty: { kind: "none" },
  training: { steps: 10, groupsPerStep: 8, countGroups: "kept", maxLag: 2 },
});`;

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

test("a machine comes from one place", async () => {
  const machine = file("a.json", JSON.stringify(machineOf()));
  expect(await chooseMachine(recipeOf(), { machine })).toEqual({ machine: machineOf() });
  const fitted = await chooseMachine(recipeOf(), { fit: recordedRun() });
  expect([fitted.machine.actors, fitted.measured!.steps]).toEqual([1, 20]);
  expect(fitted.outcomes!("math", 0, 4, 0).lengths).toHaveLength(4);
  await expect(chooseMachine(recipeOf(), { machine, fit: dir })).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
  });
});

test("several actors follow from one, and from a run of as many processes only", async () => {
  const asks = (actors: number, trainers: number) =>
    recipeOf({ schedule: "sync" }, { hardware: { processes: { actors, trainers } } });
  const [fit, answers] = [recordedFleet(), recordedRun()];
  const three = await chooseMachine(asks(3, 1), { fit, answers });
  expect([three.machine.actors, three.machine.shared!.cores]).toEqual([3, 2]);
  // the outcomes come from the other run: math's groups are kept there too, and its verdicts take time
  expect(three.outcomes!("math", 0, 4, 0).verify[0]).toBeGreaterThan(1e-3);
  for (const [recipe, run] of [
    [asks(3, 2), fit],
    [asks(1, 1), answers],
  ] as const)
    await expect(chooseMachine(recipe, { fit: run })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("the command simulates, sweeps, and writes a page", async () => {
  const recipe = file("recipe.ts", RECIPE);
  const machine = file("m.json", JSON.stringify(machineOf({ gpus: 4, actors: 2, trainers: 2 })));
  const hone = async (...args: readonly string[]) => {
    const all = ["simulate", recipe, "--machine", machine, ...args];
    const { status, stdout, stderr } = await honeHere(all);
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const { run, machine: shown } = JSON.parse(await hone("--set", "training.steps=5", "--json"));
  expect(run.steps).toHaveLength(5);
  expect(shown).toEqual(machineOf({ gpus: 4, actors: 2, trainers: 2 }));
  const page = join(dir, "sweep.html");
  expect(await hone("--sweep", "--out", page)).toContain("Least time: ");
  expect(readFileSync(page, "utf8")).toContain("GPUs that generate");
});
