import { HoneError } from "../errors.ts";
import type { Role } from "./names.ts";
import { type MetricsPlace, readMetricsPlace } from "./role-metrics.ts";

const ROLES: readonly Role[] = ["actor", "trainer", "verifier"];

/** Environment variables of a fleet process; roles read nothing else from the environment. */
export interface RoleEnvironment {
  readonly role: Role;
  /** Rank among the processes of its role: 0, 1, ... */
  readonly rank: number;
  readonly worldSize: number;
  readonly runId: string;
  /** Generation of this process, from 1; processes of earlier generations are fenced and may not write. */
  readonly epoch: number;
  /** Address of the store. */
  readonly store: string;
  /** Address of this machine for other ranks. Default: reachable only from this machine. */
  readonly host?: string;
  /** Address for Prometheus metrics. Default: none. */
  readonly metrics?: MetricsPlace;
}

/** Exit codes of a run's processes, of roles and agents: work done; start the process again; a restart would fail again. */
export const PROCESS_EXIT = { done: 0, restart: 75, config: 78 } as const;

/** The environment variables that describe a role to its process. */
export function roleVariables({
  role,
  rank,
  worldSize,
  runId,
  epoch,
  store,
}: RoleEnvironment): NodeJS.ProcessEnv {
  return {
    HONE_ROLE: role,
    HONE_RUN_ID: runId,
    HONE_EPOCH: String(epoch),
    HONE_STORE: store,
    RANK: String(rank),
    WORLD_SIZE: String(worldSize),
    LOCAL_RANK: String(rank),
    LOCAL_WORLD_SIZE: String(worldSize),
    NODE_RANK: "0",
    MASTER_ADDR: "127.0.0.1",
    MASTER_PORT: "0",
  };
}

/**
 * The variable that gives a process one GPU: the `slot`-th of those available to its machine's processes by
 * CUDA_VISIBLE_DEVICES; a verifier host gets none. Throws HONE_ERR_USAGE if there is no such GPU.
 */
export function gpuVariables(
  role: Role,
  slot: number,
  visible = process.env["CUDA_VISIBLE_DEVICES"] ?? "",
): NodeJS.ProcessEnv {
  if (role === "verifier") return { CUDA_VISIBLE_DEVICES: "" };
  const own = visible === "" ? String(slot) : visible.split(",")[slot];
  if (own !== undefined) return { CUDA_VISIBLE_DEVICES: own };
  throw new HoneError(
    "HONE_ERR_USAGE",
    `CUDA_VISIBLE_DEVICES is ${JSON.stringify(visible)}, but process ${slot} of this machine needs a GPU of its own`,
    { hint: "It must list one GPU for each process of this machine that samples or trains." },
  );
}

/** Throws HONE_ERR_USAGE naming the variable that is missing or invalid. */
export function readEnvironment(environment: NodeJS.ProcessEnv): RoleEnvironment {
  const role = text(environment, "HONE_ROLE");
  if (!ROLES.includes(role as Role)) throw wrong("HONE_ROLE", role, `one of ${ROLES.join(", ")}`);
  const worldSize = whole(environment, "WORLD_SIZE", 1);
  const rank = whole(environment, "RANK", 0);
  if (rank >= worldSize) throw wrong("RANK", String(rank), `below WORLD_SIZE, which is ${worldSize}`);
  return {
    role: role as Role,
    rank,
    worldSize,
    runId: text(environment, "HONE_RUN_ID"),
    epoch: whole(environment, "HONE_EPOCH", 1),
    store: text(environment, "HONE_STORE"),
    ...(environment["HONE_HOST"] && { host: environment["HONE_HOST"] }),
    ...(environment["HONE_METRICS"] && { metrics: readMetricsPlace(environment["HONE_METRICS"]) }),
  };
}

function text(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (value !== undefined && value !== "") return value;
  throw new HoneError("HONE_ERR_USAGE", `${name} is not set, so this process does not belong to a run`, {
    hint: "`hone run` with hardware.processes starts them by itself.",
  });
}

function whole(environment: NodeJS.ProcessEnv, name: string, least: number): number {
  const value = text(environment, name);
  if (/^\d{1,9}$/.test(value) && Number(value) >= least) return Number(value);
  throw wrong(name, value, `an integer from ${least}`);
}

const wrong = (name: string, value: string, wanted: string): HoneError =>
  new HoneError("HONE_ERR_USAGE", `${name} is ${JSON.stringify(value)}, not ${wanted}`);
