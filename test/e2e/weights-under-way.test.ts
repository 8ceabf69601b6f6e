// Stops or kills real processes while weights are sent between them: the run continues undisturbed.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openProcesses, type Processes } from "../../lib/fleet/index.ts";
import { readPipelineStatus } from "../../lib/metrics/index.ts";
import { info } from "../../lib/native/index.ts";
import { createRun, nativeCore, replayRun } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { until } from "../fleet/small-engine.ts";
import { longest } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";
import { signalTo } from "../stopped.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-under-way-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const settings = { leaseMs: 3000, beatMs: 100, aliveMs: 6000 };
const STEPS = 5;
const recipe = (schedule: "sync" | "async", trains: Trains = "weights") =>
  smallRecipe(
    { steps: STEPS, schedule, maxLag: 1, packedTokens: 64 },
    {
      advantages: { divideBy: "none", filter: "none" },
      objective: { entropyCoef: 0.1 },
      optimizer: { lr: trains === "weights" ? 1e-3 : 1e-2, warmupSteps: 0 },
      ...(trains === "adapters" && { lora: { rank: 2, alpha: 8 } }),
    },
  );
/** What a run trains, and then sends. */
type Trains = "weights" | "adapters";
const weightsOf = (name: string) => weightsHash(join(dir, name, "checkpoints", "step-000005"));

const alone: { [trains in Trains]?: Promise<string> } = {};
/** Weights of a run of one process. */
function weightsOfOne(trains: Trains = "weights"): Promise<string> {
  const made = async () => {
    await using run = await createRun(recipe("sync", trains), { verifiers, dir: join(dir, `one-${trains}`) });
    await run.finished;
    return weightsOf(`one-${trains}`);
  };
  alone[trains] ??= made();
  return alone[trains];
}

interface Setting {
  readonly trains?: Trains;
  readonly schedule?: "sync" | "async";
  readonly trainers?: number;
  /** The time-out for each process's part in an update. */
  readonly updateMs?: number;
  /** A process that is stopped for longer is replaced. */
  readonly aliveMs?: number;
  /** `happens` is called before the first announcement of the update to version `at`; the connections are open. */
  readonly at: number;
  readonly happens: (kill: Kill) => void;
  /** Called when the first processes may use that version. */
  readonly then?: Setting["happens"];
}

/** Trains with two actors. Returns which processes lagged after an update, by version. */
async function runOf(
  name: string,
  {
    trains = "weights",
    schedule = "sync",
    trainers = 0,
    updateMs = 1000,
    aliveMs = settings.aliveMs,
    at,
    happens,
    then,
  }: Setting,
) {
  const core = await nativeCore();
  const all = { ...settings, updateMs, aliveMs };
  await using processes = await openProcesses({ actors: 2, trainers, core, settings: all });
  const kill = (who: string, signal: NodeJS.Signals) => {
    const { pid } = processes.core.board.look().find((row) => row.name === who)!;
    if (pid !== undefined) signalTo(pid, signal); // the process may have been replaced, or have ended
  };
  const heard = spiedUpdates(
    processes,
    at,
    () => happens(kill),
    () => then?.(kill),
  );
  // both actors are alive before the fault, and again before the last update
  const afterStep = async ({ step }: { readonly step: number }) => {
    if (step === at - 1 || step === STEPS - 1)
      await until(() => processes.core.membership.alive.length === 2, "both actors");
    return undefined;
  };
  const options = { verifiers, dir: join(dir, name), core: processes.core, hooks: { afterStep } };
  await using run = await createRun(recipe(schedule, trains), options);
  expect(await run.finished).toMatchObject({ reason: "done", steps: STEPS });
  expect(heard.ways).toEqual(new Set(["communicator"]));
  expect(readPipelineStatus(join(dir, name))!.weights).toContain("over Gloo");
  return heard;
}

type Kill = (name: string, signal: NodeJS.Signals) => void;

/** A stopped receiver delays the transfer, so that it is in progress when its sender is killed. */
function diesAmid(who: string, sender: string, kill: Kill): void {
  kill(who, "SIGSTOP");
  setTimeout(() => kill(sender, "SIGKILL"), 300);
  setTimeout(() => kill(who, "SIGCONT"), 600);
}

/**
 * Records what the coordinator announces of updates. Calls `happens` right before the first announcement of version
 * `at`, and `then` at its commit.
 */
function spiedUpdates({ core: { updates } }: Processes, at: number, happens: () => void, then: () => void) {
  const ways = new Set<string>();
  const announced: { readonly version: number; readonly members: readonly string[] }[] = [];
  const committed: typeof announced = [];
  const say = updates.say.bind(updates);
  updates.say = (control) => {
    if (control.kind === "update") {
      ways.add(control.way);
      if (control.version === at && !announced.some(({ version }) => version === at)) happens();
      const { version, groups } = control;
      announced.push({ version, members: groups.flatMap(({ members }) => members) });
    }
    if (control.kind === "commit") committed.push(control);
    if (control.kind === "commit" && control.version === at) then();
    return say(control);
  };
  return { ways, announced, committed };
}

/** One transfer of a version between processes, and the trainer's state when it was announced. */
interface Transfer {
  readonly senders: readonly string[];
  readonly members: readonly string[];
  /** isBusy: one of its calls is running; isStopped: its process is stopped. */
  readonly trainer: { readonly isBusy: boolean; readonly isStopped: boolean };
}

/**
 * Trains with the trainer in its own process. Stops the last actor during the update to version 2. When the others
 * have the version, stops the trainer's process during a call, and then continues the actor; continues the trainer
 * when the actor has the weights. Returns the transfers of version 2 from its first commit up to there.
 * @param onActorSends called before an actor is asked to send
 */
async function behindWhileTheTrainerIsStopped(
  name: string,
  actors: number,
  onActorSends: (sender: string, kill: Kill) => void = () => {},
): Promise<readonly Transfer[]> {
  const core = await nativeCore();
  // A stopped process must not count as dead, even on a busy machine.
  const patientSettings = { ...settings, updateMs: 1000, aliveMs: 120_000 };
  await using processes = await openProcesses({ actors, trainers: 1, core, settings: patientSettings });
  const { updates, board, membership } = processes.core;
  const pidOf = (who: string) => board.look().find((row) => row.name === who)!.pid!;
  const kill: Kill = (who, signal) => signalTo(pidOf(who), signal);
  const behind = `actor.${actors - 1}`;
  const transfers: Transfer[] = [];
  let [calls, isHit, hasCaughtUp] = [0, false, false];
  let trainer: number | undefined; // the trainer's process id while it is stopped
  const [exclusive, say] = [updates.exclusive.bind(updates), updates.say.bind(updates)];
  updates.exclusive = (work) => {
    calls += 1;
    if (trainer !== undefined) kill(behind, "SIGCONT");
    return exclusive(work).finally(() => (calls -= 1));
  };
  updates.say = (control) => {
    if (control.kind === "update" && control.version === 2) {
      if (!isHit) kill(behind, "SIGSTOP");
      isHit = true;
      const senders = control.groups.map(({ sender }) => sender);
      const members = control.groups.flatMap((group) => group.members);
      const isStopped =
        trainer !== undefined && /^State:\s+T/m.test(readFileSync(`/proc/${trainer}/status`, "utf8"));
      if (trainer !== undefined)
        transfers.push({ senders, members, trainer: { isBusy: calls > 0, isStopped } });
      if (trainer !== undefined) onActorSends(senders[0]!, kill);
    }
    if (control.kind === "commit" && control.version === 2 && !hasCaughtUp) {
      hasCaughtUp = control.members.includes(`${behind}#1`);
      if (hasCaughtUp) process.kill(trainer!, "SIGCONT");
      else if (trainer === undefined) {
        kill("trainer.0", "SIGSTOP");
        trainer = pidOf("trainer.0");
      }
      if (hasCaughtUp) trainer = undefined;
    }
    return say(control);
  };
  const afterStep = async ({ step }: { readonly step: number }) => {
    if (step === 1) await until(() => membership.alive.length === actors, "all actors");
    return undefined;
  };
  const options = { verifiers, dir: join(dir, name), core: processes.core, hooks: { afterStep } };
  await using run = await createRun(recipe("sync"), options);
  expect(await run.finished).toMatchObject({ reason: "done", steps: STEPS });
  expect(hasCaughtUp).toBe(true);
  return transfers;
}

/** Versions that fewer than two actors used at their first commit. */
const partly = ({ committed }: Awaited<ReturnType<typeof runOf>>) =>
  committed.filter(({ members }) => members.length < 2).map(({ version }) => version);

describe.skipIf(info().gloo.version === null)("over Gloo", () => {
  test.each<Trains>(["weights", "adapters"])(
    "an actor that is killed amid an update of %s: the other goes on, a new one catches up, the weights are one process's",
    async (trains) => {
      const alone = weightsOfOne(trains);
      // The time-out is long enough that no process is late for the last update on a busy machine.
      const happens: Setting["happens"] = (kill) => kill("actor.1", "SIGKILL");
      const heard = await runOf(`killed-${trains}`, { trains, updateMs: 10_000, at: 2, happens });
      expect(heard.committed.find(({ version }) => version === 2)!.members).not.toContain("actor.1#1");
      expect(heard.committed.at(-1)!.members).toHaveLength(2);
      expect(heard.committed.flatMap(({ members }) => members)).toContain("actor.1#2");
      expect(weightsOf(`killed-${trains}`)).toBe(await alone);
    },
    patient(60_000),
  );

  test(
    "adapters that actors receive give the weights of one process, and so do merged weights from folders",
    async () => {
      const alone = weightsOfOne("adapters");
      for (const weights of ["communicator", "folder"] as const) {
        const core = await nativeCore();
        await using processes = await openProcesses({ actors: 2, trainers: 1, core, settings, weights });
        const options = { verifiers, dir: join(dir, weights), core: processes.core };
        await using run = await createRun(recipe("sync", "adapters"), options);
        expect(await run.finished).toMatchObject({ reason: "done", steps: STEPS });
        expect(weightsOf(weights), weights).toBe(await alone);
      }
    },
    patient(60_000),
  );

  test(
    "an actor that was stopped and comes back while the trainer is in a call gets its weights from another actor, none from the trainer",
    async () => {
      const alone = weightsOfOne();
      const transfers = await behindWhileTheTrainerIsStopped("peer", 2);
      const trainer = { isBusy: true, isStopped: true };
      expect(transfers).toEqual([{ senders: ["actor.0#1"], members: ["actor.1#1"], trainer }]);
      expect(weightsOf("peer")).toBe(await alone);
    },
    patient(60_000),
  );

  test.runIf(longest)(
    "an actor that is killed while it sends to another: another one sends, none of it is the trainer's",
    async () => {
      const alone = weightsOfOne();
      let isFirst = true;
      const transfers = await behindWhileTheTrainerIsStopped("peer-killed", 3, (sender, kill) => {
        if (!isFirst) return;
        isFirst = false;
        diesAmid("actor.2", sender.split("#")[0]!, kill);
      });
      const trainer = { isBusy: true, isStopped: true };
      expect(transfers[0]).toEqual({ senders: ["actor.0#1"], members: ["actor.2#1"], trainer });
      // An actor that replaces the killed one may get the weights first, and then send them.
      const last = transfers.at(-1)!;
      expect(last.members).toContain("actor.2#1");
      expect(["actor.1#1", "actor.0#2"]).toContain(last.senders[0]);
      expect(transfers.flatMap(({ senders }) => senders).filter((who) => !who.startsWith("actor."))).toEqual(
        [],
      );
      expect(weightsOf("peer-killed")).toBe(await alone);
    },
    patient(90_000),
  );

  test.runIf(longest).each<Trains>(["weights", "adapters"])(
    "an actor that is stopped amid an update of %s is left out at the time-out and catches up, and the run replays on one process",
    async (trains) => {
      // On a busy machine a process may be late for an earlier update, and then takes no part in this one.
      const updateMs = patient(1000);
      const happens: Setting["happens"] = (kill) => kill("actor.0", "SIGSTOP");
      const then: Setting["then"] = (kill) => kill("actor.0", "SIGCONT");
      const times = { updateMs, aliveMs: 20 * updateMs };
      const name = `stopped-${trains}`;
      const heard = await runOf(name, { trains, schedule: "async", ...times, at: 2, happens, then });
      expect(partly(heard)).toContain(2);
      expect(await replayRun(join(dir, name), { verifiers })).toMatchObject({ weightsCompared: true });
    },
    patient(60_000),
  );

  test.runIf(longest)(
    "an actor that is stopped amid an update for good: it is ended, and the weights are one process's",
    async () => {
      const alone = weightsOfOne();
      const happens: Setting["happens"] = (kill) => kill("actor.0", "SIGSTOP");
      const heard = await runOf("ended", { at: 2, happens });
      expect(heard.committed.at(-1)!.members).not.toContain("actor.0#1");
      expect(weightsOf("ended")).toBe(await alone);
    },
    patient(60_000),
  );

  test.runIf(longest).each<Trains>(["weights", "adapters"])(
    "a trainer that is killed while actors wait for the rest of an update of %s: no actor samples with a part, the weights are one process's",
    async (trains) => {
      const alone = weightsOfOne(trains);
      const happens: Setting["happens"] = (kill) => diesAmid("actor.1", "trainer.0", kill);
      // On a busy machine a process may be late for an earlier update, and then takes no part in this one.
      const name = `sender-${trains}`;
      const heard = await runOf(name, { trains, trainers: 1, updateMs: 10_000, at: 3, happens });
      expect(heard.announced.filter(({ version }) => version === 3).length).toBeGreaterThan(1);
      expect(weightsOf(name)).toBe(await alone);
    },
    patient(90_000),
  );
});
