// kill -9 ends a sweep while its runs train: they save and stop, the next session resumes them, and the results equal
// those of an undisturbed sweep. One cell fails on purpose and stops no other.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recipeInput } from "../../lib/config/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/weights-hash.ts";
import type { SweepFile } from "../../lib/sweeps/job-states.ts";
import { HONE } from "../fixtures/command-line.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { tinyRecipe } from "./tiny-recipe.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-sweep-killed-"));
  const input = recipeInput(tinyRecipe({ steps: 30, schedule: "sync" }));
  const small = { ...input, evaluation: { problemsPerDomain: 2, settings: [{ temperature: 1 }] } };
  writeFileSync(join(dir, "recipe.mjs"), `export default ${JSON.stringify(small)};`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

// a run notices the missing module when it opens its problems
const GRID = ["--grid", "sampler=adaptive|static,domains.math.source=procedural/math|/nowhere/gone.mjs"];

const start = (folder: string) =>
  spawn(
    process.execPath,
    [...HONE, "sweep", join(dir, "recipe.mjs"), ...GRID, "--seeds", "1", "--parallel", "2", "--dir", folder],
    {
      stdio: ["ignore", "ignore", "ignore"],
    },
  );
const book = (folder: string): SweepFile =>
  JSON.parse(readFileSync(join(folder, "sweep.json"), "utf8")) as SweepFile;
const stepsOf = (folder: string, id: string) => {
  const log = join(folder, id, "steps.jsonl");
  return existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0;
};

test.runIf(longest)(
  "a killed sweep loses nothing",
  async () => {
    const [killed, whole] = [join(dir, "killed"), join(dir, "whole")];
    const [code] = (await once(start(whole), "exit")) as [number];
    const expected = book(whole).jobs;
    expect([code, expected.map(({ state }) => state)]).toEqual([
      4,
      ["done", "done", "failed", "done", "failed"],
    ]);
    expect(expected[2]!.error).toContain("gone");

    const victim = start(killed);
    const isRunning = () =>
      existsSync(join(killed, "sweep.json")) &&
      book(killed).jobs.some(({ id }) => id.startsWith("runs/") && stepsOf(killed, id) >= 2);
    while (!isRunning()) await sleep(20);
    victim.kill("SIGKILL");
    await once(victim, "exit");
    expect(book(killed).jobs.some(({ state }) => state === "running")).toBe(true);

    const [again] = (await once(start(killed), "exit")) as [number];
    const { jobs } = book(killed);
    expect([again, jobs.map(({ state }) => state)]).toEqual([4, expected.map(({ state }) => state)]);
    for (const { id } of jobs.filter(({ state, cell }) => state === "done" && cell !== undefined)) {
      const hash = (folder: string) => weightsHash(join(folder, id, "checkpoints", "step-000030"));
      expect(hash(killed)).toBe(hash(whole));
      expect(stepsOf(killed, id)).toBe(30);
    }
    const page = readFileSync(join(killed, "sweep.html"), "utf8");
    expect(page).toContain("2 of 4 runs finished");
    expect(page).toContain("gone.mjs");
  },
  patient(120_000),
);
