// SIGKILL ends real processes while they sample long rollouts: with rollouts.recordEveryTokens they continue from the
// recorded tokens, and the weights equal those of an undisturbed run.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART } from "../fixtures/small-quickstart.ts";
import { longest, soak } from "../long.ts";
import { patient } from "../patience.ts";

const STEPS = 4;
/** A model so large that a step's rollouts take a second or two. Every step changes the weights, whatever it answers. */
const SETTINGS = [
  "model.config.width=256",
  "model.config.layers=8",
  "model.config.heads=8",
  "model.config.mlpWidth=512",
  "model.config.maxPositions=1100",
  "warmStart.steps=1",
  "warmStart.endlessRate=0",
  `training.steps=${STEPS}`,
  "training.groupsPerStep=4",
  "training.packedTokens=4096",
  "rollouts.groupSize=4",
  "rollouts.maxOutputTokens=1000",
  "rollouts.recordEveryTokens=8",
  "engine.maxRunning=16",
  "lengthPenalty.bufferTokens=64",
  "advantages.filter=none",
  "objective.entropyCoef=0.1",
  "optimizer.warmupSteps=0",
  "checkpoint.everySteps=1",
  "evaluation.problemsPerDomain=1",
  "evaluation.attempts=1",
  "verification.workers=1",
];
const ACTORS = ["hardware.processes.actors=2", "hardware.processes.trainers=0"];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const dir = mkdtempSync(join(tmpdir(), "hone-unfinished-killed-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const commandOf = (name: string, settings: readonly string[], more: readonly string[] = []) => [
  ...HONE,
  "run",
  QUICKSTART,
  "--dir",
  join(dir, name),
  ...more,
  ...asWords([...SETTINGS, ...settings]),
];
/**
 * Trains a run to its end; returns the hash of its weights.
 * @param kills ranks of actors, each killed during the rollouts after a step
 */
async function run(
  name: string,
  settings: readonly string[],
  more: readonly string[] = [],
  kills: readonly (readonly [rank: number, step: number])[] = [],
) {
  const running = promisify(execFile)(process.execPath, commandOf(name, settings, more), { cwd: ROOT });
  const { child } = running;
  const killing = (async () => {
    for (const [rank, step] of kills) {
      while (!isAmid(name, step) && child.exitCode === null) await sleep(20);
      expect([rank, step, child.exitCode], "the run was over before it could be disturbed").toEqual([
        rank,
        step,
        null,
      ]);
      killActor(child.pid!, rank);
    }
  })();
  await Promise.all([running, killing]);
  return weightsOf(name);
}

/** True if a run has saved a step and samples rollouts of the next one. */
function isAmid(name: string, step: number): boolean {
  const checkpoints = join(dir, name, "checkpoints");
  return (
    existsSync(checkpoints) &&
    readdirSync(checkpoints).includes(`step-00000${step}`) &&
    (statSync(join(dir, name, "unfinished.bin"), { throwIfNoEntry: false })?.size ?? 0) > 4000
  );
}

/** Kills an actor of a run as soon as its process exists. */
function killActor(run: number, rank: number, tries = 100): void {
  const isActor = (pid: number) => {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return environment.includes("HONE_ROLE=actor") && environment.includes(`RANK=${rank}`);
  };
  const pid = childrenOf(run).find(isActor);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  else if (tries > 0) setTimeout(() => killActor(run, rank, tries - 1), 100).unref();
}
const events = (name: string) => readEvents(join(dir, name, "events.jsonl"));
function weightsOf(name: string): string {
  const end = events(name).findLast((event) => event.e === "end");
  if (end?.e !== "end") throw new Error(`${name} has not ended`);
  return end.w!;
}
/** The number of resumed rollouts, and of their tokens. */
function takenUp(name: string): { readonly rollouts: number; readonly tokens: number } {
  const steps = readFileSync(join(dir, name, "steps.jsonl"), "utf8")
    .trim()
    .split("\n");
  const sum = (metric: string) =>
    steps.reduce((all, line) => all + (JSON.parse(line).metrics[metric] as number), 0);
  return { rollouts: sum("engine/taken-up"), tokens: sum("engine/taken-up-tokens") };
}

/** Starts a run and kills all its processes once it has two checkpoints and unfinished rollouts. */
async function killedAmid(name: string, settings: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, commandOf(name, settings), {
    cwd: ROOT,
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  while (!isAmid(name, 2)) {
    expect(child.exitCode).toBeNull();
    await sleep(20);
  }
  const actors = childrenOf(child.pid!);
  for (const pid of [child.pid!, ...actors]) process.kill(pid, "SIGKILL");
  await ended;
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")[1] === String(parent);
      } catch {
        return false; // the process has ended in the meantime
      }
    })
    .map(Number);
}

describe.runIf(longest || soak)("killed amid long rollouts", () => {
  test(
    "with the sync schedule the weights are those of a run that nobody disturbed",
    async () => {
      const undisturbed = await run("one", ["training.schedule=sync"]);
      await killedAmid("all", ["training.schedule=sync"]);
      expect(await run("all", ["training.schedule=sync"], ["--resume"])).toBe(undisturbed);
      expect(takenUp("all").tokens).toBeGreaterThan(0);
      const kills = [
        [0, 1],
        [1, 2],
        [0, 3],
      ] as const;
      expect(await run("actors", ["training.schedule=sync", ...ACTORS], [], kills)).toBe(undisturbed);
      expect(takenUp("actors").rollouts).toBeGreaterThan(0);
    },
    patient(240_000),
  );

  test(
    "with the async one, two actors and a death of everything, it replays on one process",
    async () => {
      await killedAmid("async", ["training.schedule=async", ...ACTORS]);
      const weights = await run("async", ["training.schedule=async", ...ACTORS], ["--resume"]);
      expect(takenUp("async").rollouts).toBeGreaterThan(0);
      const replay = [...HONE, "replay", join(dir, "async")];
      const { stdout } = await promisify(execFile)(process.execPath, replay, { cwd: ROOT });
      expect(stdout).toContain(`the same to the bit: ${STEPS} steps`);
      expect(stdout).toContain(weights);
    },
    patient(240_000),
  );
});
