import { HoneError } from "../errors.ts";
import type { LauncherRank } from "./launcher-rank.ts";
import { kubernetes, openMpi, slurm, torchrun } from "./launchers.ts";

/** Position that a launcher gives to a process, whichever launcher it is. */
export interface LauncherEnv extends LauncherRank {
  readonly launcher: LauncherName | "none";
  /**
   * Name shared by all processes of this launch and by no other launch, not even a restart of the same job. Undefined
   * if the launcher gives none.
   */
  readonly launch?: string;
  /** Address of the first node, if the launcher gives it. */
  readonly master?: { readonly address: string; readonly port?: number };
}

export type LauncherName = keyof typeof LAUNCHERS;

export interface Launcher {
  /** The variable that only this launcher sets. */
  readonly sign: string;
  /** Throws HONE_ERR_USAGE naming the variables that are missing, invalid or contradictory. */
  readonly read: (environment: NodeJS.ProcessEnv) => LauncherRank;
}

/** Innermost first: mpirun within a job of Slurm has started this process, and Slurm has not. */
const LAUNCHERS = {
  torchrun: { sign: "RANK", read: torchrun },
  openmpi: { sign: "OMPI_COMM_WORLD_RANK", read: openMpi },
  slurm: { sign: "SLURM_PROCID", read: slurm },
  kubernetes: { sign: "JOB_COMPLETION_INDEX", read: kubernetes },
} as const satisfies Record<string, Launcher>;

const ALONE: LauncherRank = {
  rank: 0,
  worldSize: 1,
  localRank: 0,
  localSize: 1,
  nodeRank: 0,
  nodes: 1,
  restarts: 0,
};

/**
 * Reads the launcher's variables; without a launcher, one process in a world of one. Throws HONE_ERR_USAGE naming the
 * variables that are missing, invalid or contradictory.
 */
export function readLauncherEnv(environment: NodeJS.ProcessEnv): LauncherEnv {
  const found = Object.entries(LAUNCHERS).find(([, { sign }]) => (environment[sign] ?? "") !== "");
  if (found === undefined)
    return { launcher: "none", ...ALONE, ...launchOf(environment), ...masterOf(environment) };
  const [name, { sign, read }] = found;
  const place = read(environment);
  const { rank, worldSize, localRank, localSize, nodeRank, nodes } = place;
  const said = `rank ${rank} of ${worldSize}, ${localRank} of ${localSize} on node ${nodeRank} of ${nodes}`;
  if (rank >= worldSize || localRank >= localSize || nodeRank >= nodes || worldSize < nodes)
    throw new HoneError("HONE_ERR_USAGE", `${sign} and related variables contradict each other: ${said}`, {
      hint: `${name} sets these variables. If this shell still has them from another job, unset them.`,
    });
  const launch = launchOf(environment, name === "slurm" ? place.restarts : undefined);
  return { launcher: name as LauncherName, ...place, ...launch, ...masterOf(environment) };
}

/** Name of the launch: job, step and requeues of an srun task; else HONE_LAUNCH, which other launchers' job files set. */
function launchOf(environment: NodeJS.ProcessEnv, requeues?: number): Pick<LauncherEnv, "launch"> {
  const {
    HONE_LAUNCH: said,
    SLURM_CLUSTER_NAME: cluster,
    SLURM_JOB_ID: job,
    SLURM_STEP_ID: step,
  } = environment;
  if (requeues !== undefined && job && step)
    return { launch: `${cluster ?? "slurm"}/${job}.${step}/${requeues}` };
  return said ? { launch: said } : {};
}

function masterOf(environment: NodeJS.ProcessEnv): Pick<LauncherEnv, "master"> {
  const { MASTER_ADDR: address, MASTER_PORT: text } = environment;
  if (address === undefined || address === "") return {};
  if (text === undefined || text === "") return { master: { address } };
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return { master: { address, port } };
  throw new HoneError("HONE_ERR_USAGE", `MASTER_PORT is ${JSON.stringify(text)}, not a port from 1 to 65535`);
}
