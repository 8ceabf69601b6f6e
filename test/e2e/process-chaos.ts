import { join } from "node:path";
import { HoneError } from "../../lib/errors.ts";
import { openProcesses } from "../../lib/fleet/index.ts";
import { OWN_REDIS } from "../../lib/fleet/local-store.ts";
import {
  type Core,
  createRun,
  expectClaimable,
  expectRunnable,
  readEvents,
  replayRun,
} from "../../lib/orchestration/index.ts";
import { drawFaults, FaultInjector, spellFault } from "./process-faults.ts";

type Recipe = Parameters<typeof createRun>[0];

export interface ChaosOptions {
  /** The recipe's `hardware.processes` says how many processes of each role run. */
  readonly recipe: Recipe;
  /** The seed from which the faults are drawn; the recipe has the run's own seed. */
  readonly seed: number;
  /** Seconds from the start of training in which faults happen; then the run is stopped. */
  readonly seconds: number;
  /** The folder of both runs, whose contents are replaced. */
  readonly dir: string;
  /** The store's address. Default: this process serves it. With "redis-server", faults kill the store's server too. */
  readonly store?: string;
  readonly core: Core;
}

export interface ChaosCheck {
  readonly name: string;
  readonly passed: boolean;
  /** The result of the check, as a sentence. */
  readonly found: string;
}

export interface ChaosReport {
  readonly seed: number;
  /** The faults as `spellFault` writes them. */
  readonly faults: readonly string[];
  /** The number of faults that hit a process. */
  readonly struck: number;
  readonly steps: number;
  readonly checks: readonly ChaosCheck[];
}

/**
 * Trains a run under faults and checks that it reaches its end; that by its own record no group is lost and none is
 * trained twice; that with schedule "sync" its weights equal to the bit those of one undisturbed process; and that
 * with "async" it replays on one process. Throws HONE_ERR_CONFIG for a recipe of one process, and what openProcesses
 * throws.
 */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const dir = join(options.dir, `seed-${options.seed}`);
  const { faults, struck, failure } = await disturbed(options, dir);
  const base = { seed: options.seed, faults, struck };
  const survived = { name: "the run goes on", passed: failure === undefined, found: failure ?? "to its end" };
  if (failure !== undefined) return { ...base, steps: 0, checks: [survived] };
  const { steps, weights, checks } = groupChecks(dir, options.recipe.training.maxLag);
  const same = options.recipe.training.schedule === "sync" ? undisturbed : replayed;
  return { ...base, steps, checks: [survived, ...checks, await same(options, dir, { steps, weights })] };
}

async function disturbed(options: ChaosOptions, dir: string) {
  const { recipe, core, seconds, seed, store } = options;
  const processes = recipe.hardware?.processes;
  if (processes === undefined)
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `${recipe.name}: one process does it all, nothing could be killed`,
      {
        hint: "Give --processes, or hardware.processes in the recipe.",
      },
    );
  expectRunnable(recipe, core.info()); // a run on a fleet's core does not check this machine
  const drawn = drawFaults({ ...processes, seed, seconds, redis: store === OWN_REDIS });
  const faults = drawn.map(spellFault);
  let struck = 0;
  // an error raised here is not a finding of a seed
  await expectClaimable({ dir, overwrite: true });
  const fleet = await openProcesses({
    ...processes,
    gpus: recipe.device === "cuda",
    core,
    ...(store !== undefined && { store }),
  });
  try {
    await using _ = fleet;
    await using run = await createRun(recipe, { dir, core: fleet.core, overwrite: true });
    await firstStep(run);
    const pool = () => run.processes.flatMap(({ name, pid }) => (isVerifier(name) && pid ? [pid] : []));
    const injector = new FaultInjector(drawn, {
      core: fleet.core,
      ...(!processes.verifiers && { pool }),
    });
    const over = setTimeout(() => void run.stop().catch(() => {}), 1000 * seconds);
    await run.finished.finally(() => {
      clearTimeout(over);
      injector.close();
    });
    struck = injector.struck;
    return { faults, struck, failure: undefined };
  } catch (error) {
    return { faults, struck, failure: String((error as Error).message) };
  }
}

const isVerifier = (name: string): boolean => name.startsWith("verifier.");

async function firstStep(run: Awaited<ReturnType<typeof createRun>>): Promise<void> {
  const stepped = new Promise<void>((resolve) => void run.on("step", () => resolve()));
  await Promise.race([stepped, run.finished]);
}

interface Trained {
  readonly steps: number;
  /** The hash of its weights. */
  readonly weights: string;
}

/** Checks the groups in the run's own record. */
export function groupChecks(dir: string, maxLag: number): Trained & { readonly checks: ChaosCheck[] } {
  const submitted = new Map<number, number>();
  const settled: number[] = [];
  const trained: number[] = [];
  let end = { s: 0, v: 0, w: "" };
  for (const event of readEvents(join(dir, "events.jsonl"))) {
    if (event.e === "submit") submitted.set(event.g, event.v);
    if (event.e === "group") settled.push(event.g);
    if (event.e === "step") trained.push(...event.k);
    if (event.e === "end") end = event;
  }
  const left = new Set(settled);
  const lost = [...submitted].filter(([group, version]) => !left.has(group) && version < end.v - maxLag - 1);
  const twice = (groups: readonly number[]) => groups.length - new Set(groups).size;
  const strange = trained.filter((group) => !left.has(group) || !submitted.has(group)).length;
  const repeated = twice(trained) + twice(settled);
  return {
    steps: end.s,
    weights: end.w,
    checks: [
      { name: "no group is lost", passed: lost.length === 0, found: `${lost.length} of ${submitted.size}` },
      {
        name: "none is trained twice, or from nowhere",
        passed: repeated + strange === 0 && trained.length > 0,
        found: `${repeated} and ${strange} of ${trained.length}`,
      },
    ],
  };
}

/** Trains the same recipe for as many steps in one process, without faults. */
async function undisturbed(
  options: ChaosOptions,
  dir: string,
  { steps, weights }: Trained,
): Promise<ChaosCheck> {
  const { recipe, core } = options;
  const own = `${dir}-undisturbed`;
  const hooks = {
    afterStep: ({ step }: { readonly step: number }) => (step >= steps ? ("stop" as const) : undefined),
  };
  await using run = await createRun(recipe, { dir: own, core, overwrite: true, hooks });
  await run.finished;
  const end = readEvents(join(own, "events.jsonl")).at(-1);
  const wanted = end?.e === "end" && end.s === steps ? end.w : "none";
  const found = `${weights.slice(0, 12)}, undisturbed ${wanted.slice(0, 12)}`;
  return { name: "weights are one undisturbed process's", passed: weights === wanted, found };
}

async function replayed(_: ChaosOptions, dir: string, { steps }: Trained): Promise<ChaosCheck> {
  const name = "it replays on one process";
  try {
    const replay = await replayRun(dir);
    return { name, passed: replay.weightsCompared && replay.steps === steps, found: `${replay.steps} steps` };
  } catch (error) {
    return { name, passed: false, found: String((error as Error).message) };
  }
}
