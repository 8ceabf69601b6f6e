import { expectRoles, processCount, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import {
  jobSetFile,
  mpirunFile,
  placeProcesses,
  readLauncherEnv,
  simulatedNodes,
  slurmFile,
} from "../launch/index.ts";
import { duration, simulate } from "../simulate/index.ts";
import { jobOf, needsGpus } from "./launch.ts";
import { chooseMachine } from "./simulate.ts";

/** One stage of a check. */
export interface Stage {
  readonly name: string;
  readonly ok: boolean;
  /** The finding, or the fault. */
  readonly said: string;
  /** The part of the recipe that is missing on this machine, and what the check uses instead. */
  readonly instead?: string;
}

const LAUNCH = { set: [], grace: 120, restarts: 20 } as const;
/** Enough steps to show that the simulated run progresses. */
const SIMULATED_STEPS = 25;

/** Describes the processes of a recipe: "64 processes on 8 nodes of 8 GPUs". */
export function shapeOf(recipe: Recipe): string {
  const count = processCount(expectRoles(recipe));
  const { nodes, gpusPerNode } = jobOf(recipe, "recipe.ts", LAUNCH);
  const on = `${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  return `${count} processes on ${on}${gpusPerNode > 0 ? ` of ${gpusPerNode} GPUs` : ""}`;
}

/**
 * Checks a run on many nodes without the nodes: the launchers' files, the placement of processes as each agent will
 * derive it from the variables that launchers set, and a simulation. Throws HONE_ERR_USAGE if the recipe does not say
 * how many processes sample and train.
 */
export async function clusterStages(recipe: Recipe): Promise<Stage[]> {
  return [filesStage(recipe), rendezvousStage(recipe), await simulationStage(recipe)];
}

function filesStage(recipe: Recipe): Stage {
  const job = jobOf(recipe, "recipe.ts", LAUNCH);
  const files = [
    slurmFile(job),
    jobSetFile(job, { image: "image", claim: "claim", mount: "/shared" }),
    mpirunFile(job),
  ];
  const lines = files.map(({ text }) => text.split("\n").length);
  const gpus = job.gpusPerNode > 0 ? ` with ${job.gpusPerNode} GPUs each` : "";
  const said = `${job.nodes} agents on ${job.nodes} nodes${gpus}: Slurm's script (${lines[0]} lines), a JobSet (${lines[1]}), mpirun's script (${lines[2]}); write one by hone launch`;
  return { name: "launch files", ok: true, said };
}

/** Checks that the agents of all nodes, each reading only its own variables, agree on the layout and fill every slot once. */
function rendezvousStage(recipe: Recipe): Stage {
  const nodes = recipe.hardware?.nodes ?? 1;
  const roles = expectRoles(recipe);
  const launchers = Object.entries(simulatedNodes(nodes));
  for (const [launcher, environments] of launchers) {
    const placements = environments.flatMap((environment) => {
      const launcherEnv = readLauncherEnv(environment);
      return placeProcesses(roles, launcherEnv.nodes)[launcherEnv.nodeRank]!.map((placement) => ({
        ...placement,
        launcherEnv,
      }));
    });
    const places = new Set(placements.map(({ role, rank }) => `${role} ${rank}`));
    const devices = new Set(placements.map(({ slot, launcherEnv }) => `${launcherEnv.nodeRank}/${slot}`));
    const stores = new Set(placements.map(({ launcherEnv }) => JSON.stringify(launcherEnv.master)));
    const wanted = processCount(roles);
    if (
      places.size === wanted &&
      devices.size === wanted &&
      placements.length === wanted &&
      stores.size === 1
    )
      continue;
    throw new HoneError(
      "HONE_ERR_INTERNAL",
      `under ${launcher} ${nodes} agents would start ${placements.length} processes, ${places.size} of them different; the recipe needs ${wanted}, each once`,
    );
  }
  const each = placeProcesses(roles, nodes)[0]!;
  const count = (role: string) => each.filter((placement) => placement.role === role).length;
  const hosts = roles.verifiers ? ` and ${count("verifier")} verifier hosts` : "";
  const said = `${processCount(roles)} ranks on ${nodes} nodes as ${launchers.map(([name]) => name).join(", ")} would tell them: every place once, one store; node 0 has ${count("trainer")} trainers and ${count("actor")} actors${hosts}`;
  return { name: "rendezvous", ok: true, said };
}

async function simulationStage(recipe: Recipe): Promise<Stage> {
  const name = "simulation";
  if (!needsGpus(recipe))
    return {
      name,
      ok: true,
      said: "left out: no data sheet says how fast a CPU is; hone simulate --fit a run of it",
    };
  const { machine } = await chooseMachine(recipe, {});
  const steps = Math.min(SIMULATED_STEPS, recipe.training.steps);
  const run = await simulate({ ...recipe, training: { ...recipe.training, steps } }, machine);
  const said = `the first ${steps} steps under a virtual clock take ${duration(run.seconds)}, by ${machine.from}; hone simulate does all ${recipe.training.steps}`;
  return { name, ok: true, said };
}
