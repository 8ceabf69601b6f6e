import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { Machine } from "./machine.ts";
import { simulate } from "./simulation.ts";
import { average, type Metrics, mean, trainSeconds } from "./step-times.ts";
import type { Outcomes } from "./workload.ts";

export interface FleetLog {
  readonly dir: string;
  readonly recipe: Recipe;
  /** Steps that trained. */
  readonly records: readonly Metrics[];
  /** Cores of the machine. */
  readonly cores: number;
  /** Answers of the recorded run. */
  readonly answers: Outcomes;
}

/** Initial steps, which include one-time work. */
const FIRST = 3;
const HALVINGS = 14;

/**
 * Fits an actor and a trainer in separate processes, whose cores they share with their helper threads. In the
 * synchronous schedule engine and trainer do not overlap, so each rate is measured alone. The remaining wait for
 * groups is the cost of groups outside the engine, found by simulating the run itself; the remaining processor time
 * gives the number of cores for it. Throws HONE_ERR_DATA for other processes, an asynchronous run, or one without
 * processor times.
 * @param one fitted from the log as if engine and trainer were one process
 */
export async function fitProcesses(log: FleetLog, one: Machine): Promise<Machine> {
  expectFit(log);
  const { recipe, cores, answers } = log;
  const records = log.records.slice(FIRST);
  const update = mean(records, "time/publishing");
  const trainer = { ...one.trainer, fixed: Math.max(0, one.trainer.fixed - update) };
  const { beside, groups } = besideEngine(records, recipe);
  const waiting = mean(records, "time/waiting");
  const steps = Math.min(recipe.training.steps, log.records.length);
  const own = { ...recipe, training: { ...recipe.training, steps } };
  const machineOf = (perGroup: number): Machine => ({
    ...one,
    trainer,
    actor: { ...one.actor, speedDuringStep: 1 },
    shared: { cores, engine: 1, trainer: 1, perGroup, service: beside / (groups * perGroup), update },
  });
  const least = beside / (groups * cores); // the work cannot use more than all cores
  let [low, high] = [least, Math.max(2 * least, (2 * waiting) / groups)];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    const run = await simulate(own, machineOf(middle), answers);
    const simulated = average(run.steps.slice(FIRST).map((step) => step.waiting));
    if (simulated < waiting) low = middle;
    else high = middle;
  }
  return machineOf((low + high) / 2);
}

/** Core seconds of a step outside of engine, trainer and the accounting between two steps, and groups of a step. */
function besideEngine(records: readonly Metrics[], { training }: Recipe): { beside: number; groups: number } {
  const all = average(records.map(({ metrics: m }) => m["speed/processors"]! * m["time/step"]!));
  const engine = average(records.map(({ metrics: m }) => (1 - m["engine/idle"]!) * m["time/step"]!));
  const train = average(records.map((r) => trainSeconds(r) - (r.metrics["time/publishing"] ?? 0)));
  // time/checkpointing is left out: it contains waiting for a disk, and for a user who paused the run
  const between =
    mean(records, "time/recording") + mean(records, "time/logging") + mean(records, "time/other");
  return { beside: Math.max(1e-6, all - engine - train - between), groups: training.groupsPerStep };
}

function expectFit({ dir, recipe, records }: FleetLog): void {
  const { actors, trainers } = recipe.hardware!.processes!;
  const counted = records.some(({ metrics }) => metrics["speed/processors"] !== undefined);
  if (actors === 1 && trainers === 1 && recipe.training.schedule === "sync" && counted) return;
  throw new HoneError(
    "HONE_ERR_DATA",
    `${dir}: this run cannot be fitted: a fit of several processes needs a run with training.schedule sync, one actor, one trainer and the metric speed/processors`,
    {
      hint: "Make such a run: --set training.schedule=sync --set hardware.processes.actors=1 --set hardware.processes.trainers=1",
    },
  );
}
