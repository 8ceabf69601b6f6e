import { HoneError } from "../errors.ts";
import type { LauncherRank } from "./launcher-rank.ts";
import { whole } from "./variables.ts";

type Environment = NodeJS.ProcessEnv;

/** RANK and related variables, as set by torchrun, DeepSpeed and many platforms. Ranks fill nodes one after the other. */
export function torchrun(environment: Environment): LauncherRank {
  const rank = whole(environment, "RANK");
  const worldSize = whole(environment, "WORLD_SIZE", { least: 1 });
  const localRank = whole(environment, "LOCAL_RANK");
  const localSize = whole(environment, "LOCAL_WORLD_SIZE", {
    least: 1,
    otherwise: environment["LOCAL_SIZE"],
  });
  const group = environment["GROUP_RANK"] ?? environment["NODE_RANK"];
  if (worldSize % localSize !== 0)
    throw contradiction(
      { WORLD_SIZE: worldSize, LOCAL_WORLD_SIZE: localSize },
      "every node has as many processes",
    );
  const nodes = worldSize / localSize;
  const name = environment["GROUP_RANK"] === undefined ? "NODE_RANK" : "GROUP_RANK";
  const nodeRank = group === undefined ? Math.floor(rank / localSize) : whole(environment, name);
  const restarts = whole(environment, "TORCHELASTIC_RESTART_COUNT", { otherwise: "0" });
  const expected = nodeRank * localSize + localRank;
  if (rank !== expected)
    throw contradiction(
      { RANK: rank, LOCAL_RANK: localRank, LOCAL_WORLD_SIZE: localSize, [name]: nodeRank },
      `these make rank ${expected}`,
    );
  return { rank, worldSize, localRank, localSize, nodeRank, nodes, restarts };
}

/** A task of srun. SLURM_RESTART_COUNT is not set before the first restart. */
export function slurm(environment: Environment): LauncherRank {
  const rank = whole(environment, "SLURM_PROCID");
  const worldSize = whole(environment, stepOr(environment, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"), {
    least: 1,
  });
  if (environment["SLURM_STEP_ID"] === undefined && worldSize > 1)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `SLURM_NTASKS is ${worldSize} and SLURM_STEP_ID is not set: this is the batch script and not one of its tasks`,
      { hint: "Start it by srun, as the file that `hone launch slurm` writes." },
    );
  const nodes = whole(environment, stepOr(environment, "SLURM_STEP_NUM_NODES", "SLURM_NNODES"), { least: 1 });
  const nodeRank = whole(environment, "SLURM_NODEID");
  const name = stepOr(environment, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
  const sizes = tasksPerNode(environment[name] ?? "");
  const localSize = sizes[nodeRank];
  if (sizes.length !== nodes || localSize === undefined)
    throw contradiction(
      { [name]: environment[name] ?? "not set", SLURM_NODEID: nodeRank },
      `there are ${nodes} nodes`,
    );
  return {
    rank,
    worldSize,
    localRank: whole(environment, "SLURM_LOCALID"),
    localSize,
    nodeRank,
    nodes,
    restarts: whole(environment, "SLURM_RESTART_COUNT", { otherwise: "0" }),
  };
}

const stepOr = (environment: Environment, ofStep: string, ofJob: string): string =>
  environment[ofStep] === undefined ? ofJob : ofStep;

/** Parses "2(x3),1": three nodes with two tasks, then one with one. Empty if malformed. */
function tasksPerNode(text: string): number[] {
  const parts = text.split(",").map((part) => /^(\d{1,6})(?:\(x(\d{1,6})\))?$/.exec(part));
  if (parts.includes(null)) return [];
  return parts.flatMap((part) => Array<number>(Number(part![2] ?? 1)).fill(Number(part![1])));
}

/**
 * A process of Open MPI's mpirun. OMPI_COMM_WORLD_NODE_RANK is not the number of a node: it counts processes on one.
 * Derives nodes from the ranks, if mpirun fills nodes one after the other with equally many processes.
 */
export function openMpi(environment: Environment): LauncherRank {
  const rank = whole(environment, "OMPI_COMM_WORLD_RANK");
  const worldSize = whole(environment, "OMPI_COMM_WORLD_SIZE", { least: 1 });
  const localRank = whole(environment, "OMPI_COMM_WORLD_LOCAL_RANK");
  const localSize = whole(environment, "OMPI_COMM_WORLD_LOCAL_SIZE", { least: 1 });
  if (worldSize % localSize !== 0 || rank % localSize !== localRank)
    throw contradiction(
      {
        OMPI_COMM_WORLD_RANK: rank,
        OMPI_COMM_WORLD_SIZE: worldSize,
        OMPI_COMM_WORLD_LOCAL_RANK: localRank,
        OMPI_COMM_WORLD_LOCAL_SIZE: localSize,
      },
      "which node this is does not follow from them",
      "Fill nodes one after the other, with as many processes each: mpirun --map-by ppr:1:node.",
    );
  const restarts = whole(environment, "HONE_RESTARTS", { otherwise: "0" });
  return {
    rank,
    worldSize,
    localRank,
    localSize,
    nodeRank: Math.floor(rank / localSize),
    nodes: worldSize / localSize,
    restarts,
  };
}

/**
 * A pod of an Indexed Job. Kubernetes gives it its index but nothing about the others: the job file sets HONE_NODES
 * and, for a JobSet, HONE_RESTARTS. One process per pod.
 */
export function kubernetes(environment: Environment): LauncherRank {
  const rank = whole(environment, "JOB_COMPLETION_INDEX");
  const nodes = whole(environment, "HONE_NODES", { least: 1 });
  const restarts = whole(environment, "HONE_RESTARTS", { otherwise: "0" });
  return { rank, worldSize: nodes, localRank: 0, localSize: 1, nodeRank: rank, nodes, restarts };
}

function contradiction(values: Readonly<Record<string, unknown>>, why: string, hint?: string): HoneError {
  const said = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return new HoneError("HONE_ERR_USAGE", `${said.join(", ")} contradict each other: ${why}`, {
    details: values,
    ...(hint !== undefined && { hint }),
  });
}
