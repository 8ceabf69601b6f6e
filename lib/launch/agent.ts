import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import {
  gpuVariables,
  joiningRanks,
  type MetricsPlace,
  NodeRoles,
  PROCESS_EXIT,
  Rendezvous,
  sessionRun,
} from "../fleet/index.ts";
import { deferred } from "../shared/async/deferred.ts";
import { openStore, withoutPassword } from "../streams/index.ts";
import type { LauncherEnv } from "./launcher-env.ts";
import { devicesANode, type Placement, type Roles } from "./placement.ts";
import { differenceFrom, type RecipeFields, readFields, spellFields } from "./same-recipe.ts";

/** Time to wait for a store or a coordinator that another node starts. Milliseconds. */
const PATIENCE_MS = 600_000;
const AGAIN_MS = 2_000;
/** Key of the number of nodes in the compared fields; a joining node does not know it. */
const NODES = "nodes";
/** Time after which an agent that waits for a coordinator reports it. Milliseconds. */
const QUIET_MS = 5_000;

export interface AgentOptions {
  readonly launcherEnv: Pick<LauncherEnv, "nodeRank" | "nodes" | "launch">;
  /** Processes of this node. */
  readonly placements: readonly Placement[];
  /** For a node that joins a running run: the processes to start, instead of placements. It leaves on SIGTERM. */
  readonly joins?: Joining;
  readonly runId: string;
  /** Redis server that every node reaches. */
  readonly store: string;
  /** Recipe that all agents of the run share; an agent with another one is refused. */
  readonly recipe: RecipeFields;
  /** Folder for the logs of this node's processes. */
  readonly logs: string;
  /** Gives each process its own GPU. */
  readonly gpus: boolean;
  /** The command that coordinates the run; the agent of node 0 starts it. */
  readonly coordinator: readonly string[];
  /** Exit codes of `hone run` after which a restart would fail again. */
  readonly nonRetryable: readonly number[];
  /** Address for this node's Prometheus metrics. Default: none. */
  readonly metrics?: MetricsPlace;
  /** The launcher's signal: the coordinator saves, then every process leaves. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Number of processes of each role that join, and the number at the start of the run. */
export interface Joining {
  readonly actors: number;
  readonly verifiers: number;
  readonly begun: Pick<Roles, "actors" | "verifiers">;
}

/**
 * Runs one node: its actors, trainers and verifier hosts, as long as there is a coordinator; on node 0 also the
 * coordinator. Resolves with an exit code of PROCESS_EXIT, the same on every node after a coordinator has exited.
 */
export async function runAgent(options: AgentOptions): Promise<number> {
  await using rendezvous = await patient(options, () => Rendezvous.open(options.store, options.runId));
  await using _ = { [Symbol.asyncDispose]: await place(options, rendezvous) };
  if (!coordinates(options)) return await follow(options, rendezvous, new AbortController().signal);
  const { launch } = options.launcherEnv;
  if (launch !== undefined) await rendezvous.beginLaunch(launch);
  const child = startCoordinator(options, await addressTowards(options.store));
  const gone = new AbortController();
  const ended = once(child, "exit").then(([code]) => {
    gone.abort();
    return verdict(code as number | null, options.nonRetryable);
  });
  const [code, own] = await Promise.all([
    ended.then(async (each) => {
      await rendezvous.end(each).catch(() => {}); // errors are ignored, since other nodes notice without a message that this node is gone
      return each;
    }),
    follow(options, rendezvous, gone.signal),
  ]);
  const end = own === PROCESS_EXIT.config ? own : code; // the recipe of this node may be the wrong one
  if (launch !== undefined) await rendezvous.endLaunch(launch, end).catch(() => {}); // keeps agents that come late from waiting for this session
  return end;
}

/** Claims the node's number; resolves to a function that releases it. */
async function place(
  { joins, launcherEnv }: AgentOptions,
  rendezvous: Rendezvous,
): Promise<() => Promise<void>> {
  if (joins !== undefined) return async () => {};
  const lease = await rendezvous.takeNode(launcherEnv.nodeRank);
  return () => lease.close();
}

const coordinates = ({ launcherEnv, joins }: AgentOptions): boolean =>
  joins === undefined && launcherEnv.nodeRank === 0;

/** Name for messages and folders: "0", "1", or a name that says that it joined. */
const nodeName = ({ launcherEnv, joins }: AgentOptions): string =>
  joins === undefined ? String(launcherEnv.nodeRank) : `joined-${hostname()}-${process.pid}`;

/** Exit code for the launcher after a coordinator's end; a killed coordinator has a checkpoint to resume from. */
export function verdict(code: number | null, nonRetryable: readonly number[]): number {
  if (code === 0) return PROCESS_EXIT.done;
  return code !== null && nonRetryable.includes(code) ? PROCESS_EXIT.config : PROCESS_EXIT.restart;
}

function startCoordinator({ coordinator, runId, store, signal }: AgentOptions, host: string): ChildProcess {
  const child = spawn(coordinator[0]!, coordinator.slice(1), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, HONE_RUN_ID: runId, HONE_STORE: store, HONE_HOST: host },
  });
  child.once("error", () => {}); // errors are ignored: the process's exit shows them
  const stop = () => void child.kill("SIGTERM");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  return child;
}

/** Runs this node in one session after another, until one has ended for good. @param gone true if no other session will follow */
async function follow(options: AgentOptions, rendezvous: Rendezvous, gone: AbortSignal): Promise<number> {
  const { signal, say } = options;
  const nothing = coordinates(options) ? gone : AbortSignal.any([signal, gone]);
  for (let session = 0; ; ) {
    const next = await nextSession(options, rendezvous, session, nothing);
    if ("code" in next) return next.code;
    session = next.session;
    say(`node ${nodeName(options)}: session ${session} of ${rendezvous.runId}`);
    if (await isOfAnotherRecipe(options, rendezvous, session)) return PROCESS_EXIT.config;
    const code = await takePart(options, rendezvous, session);
    if (code !== undefined) return code;
    say(`node ${nodeName(options)}: the coordinator of session ${session} is gone`);
  }
}

type Next = { readonly session: number } | { readonly code: number };

/** The next session for an agent, or its exit code if there is none. @param nothing true if no other session will follow */
async function nextSession(
  options: AgentOptions,
  rendezvous: Rendezvous,
  after: number,
  nothing: AbortSignal,
): Promise<Next> {
  const { launcherEnv, say } = options;
  const decided = new AbortController();
  const signal = AbortSignal.any([nothing, decided.signal]);
  const begun = awaitSession(options, rendezvous, after, signal);
  const { launch } = launcherEnv;
  const awaitsEnd = launch !== undefined && !coordinates(options);
  const ended = awaitsEnd ? rendezvous.endOfLaunch(launch, signal) : undefined;
  try {
    const code = ended && (await Promise.race([begun.then(() => undefined), ended]));
    if (code !== undefined) {
      say(
        `node ${nodeName(options)}: the coordinator of this launch has already ended, and no other will follow (${code})`,
      );
      return { code };
    }
    const session = await begun;
    if (session !== undefined) return { session };
    return { code: leaves(options) ? PROCESS_EXIT.done : PROCESS_EXIT.restart };
  } finally {
    decided.abort();
  }
}

async function awaitSession(
  options: AgentOptions,
  rendezvous: Rendezvous,
  after: number,
  nothing: AbortSignal,
): Promise<number | undefined> {
  const { store, say } = options;
  const where = `no coordinator of ${rendezvous.runId} (HONE_RUN_ID) is alive at ${withoutPassword(store)}`;
  const waits = () =>
    say(`node ${nodeName(options)}: ${where}; waiting, for ${PATIENCE_MS / 60_000} minutes`);
  const timer = setTimeout(waits, QUIET_MS);
  try {
    const next = await rendezvous.next(after, PATIENCE_MS, nothing);
    if (next === undefined && !nothing.aborted) say(`node ${nodeName(options)}: ${where}, and none came`);
    return next;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Checks that this node's recipe is the session's. Ranks with different world sizes would wait for each other
 * forever, so the session ends for all agents with an error that names the difference. For a joining node, only that
 * node ends.
 */
async function isOfAnotherRecipe(
  options: AgentOptions,
  rendezvous: Rendezvous,
  session: number,
): Promise<boolean> {
  const { recipe, joins, launcherEnv, say } = options;
  const own = new Map([
    ...recipe,
    ...(joins === undefined ? [[NODES, String(launcherEnv.nodes)] as const] : []),
  ]);
  const first = await rendezvous.recipe(session, joins === undefined ? spellFields(own) : undefined);
  const theirs = first === undefined ? own : readFields(first);
  if (joins !== undefined) theirs.delete(NODES);
  const differs = differenceFrom(own, theirs);
  if (differs === undefined) return false;
  const why = `node ${nodeName(options)}: its recipe differs from another node's: ${differs}. Give all agents the same recipe and --set`;
  say(why);
  if (joins !== undefined) return true;
  const told = async () => {
    await rendezvous.end(PROCESS_EXIT.config, session);
    await rendezvous.fail(session, why);
  };
  await told().catch(() => {}); // if this fails, the coordinator notices that the node's processes are missing
  return true;
}

/** True if this node was told to leave and the coordinator does not need it to save a checkpoint. */
const leaves = ({ joins, signal }: AgentOptions): boolean => joins !== undefined && signal.aborted;

/**
 * Runs this node's processes. Resolves when the coordinator is gone, with its exit code; on a node that joined, also
 * when it is told to leave.
 */
async function takePart(
  options: AgentOptions,
  rendezvous: Rendezvous,
  session: number,
): Promise<number | undefined> {
  const { store, runId, logs, joins, signal, say } = options;
  const run = sessionRun(runId, session);
  const placements = joins === undefined ? options.placements : await placementsOfJoined(store, run, joins);
  const node = nodeName(options);
  const host = await addressTowards(store);
  const { metrics: place } = options;
  const metrics = place && { metrics: { place, name: `agent.${node}`, say } };
  const gaveUp = deferred<number>();
  const onFailure = (error: unknown) => {
    const why = `node ${node}: ${(error as Error).message}`;
    say(why);
    if (joins !== undefined) return gaveUp.resolve(PROCESS_EXIT.restart); // the run continues without this node
    void rendezvous.fail(session, why).catch(() => {}); // if not, the coordinator notices the silence
  };
  await using _ = await NodeRoles.open({
    store,
    run,
    places: placements,
    logs: join(logs, `node-${node}`),
    threads: Math.max(1, Math.floor(availableParallelism() / Math.max(1, devicesANode([placements])))),
    ...metrics,
    environmentOf: ({ role, rank }) => placementVariables({ ...options, placements }, host, role, rank),
    onFailure,
  });
  const over = rendezvous.over(session);
  if (joins === undefined) return await over;
  over.catch(() => {}); // not awaited if this node leaves first
  return await Promise.race([over, gaveUp.promise, told(signal).then(() => PROCESS_EXIT.done)]);
}

const told = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, "abort");
};

/** Slots of a joining node in the running session that no other node has. */
async function placementsOfJoined(address: string, run: string, joins: Joining): Promise<Placement[]> {
  const { actors, verifiers, begun } = joins;
  await using store = await openStore(address, { run, mustExist: true });
  const placements = [
    ...(await joiningRanks(store.kv, "actor", begun.actors, actors)).map((rank) => ["actor", rank] as const),
    ...(await joiningRanks(store.kv, "verifier", begun.verifiers ?? 0, verifiers)).map(
      (rank) => ["verifier", rank] as const,
    ),
  ];
  return placements.map(([role, rank], slot) => ({ role, rank, worldSize: rank + 1, slot }));
}

function placementVariables(
  { launcherEnv, placements, gpus }: AgentOptions,
  host: string,
  role: Placement["role"],
  rank: number,
): NodeJS.ProcessEnv {
  const { slot } = placements.find((placement) => placement.role === role && placement.rank === rank)!;
  return {
    HONE_AGENT: "1",
    HONE_HOST: host,
    NODE_RANK: String(launcherEnv.nodeRank),
    LOCAL_RANK: String(slot),
    LOCAL_WORLD_SIZE: String(placements.length),
    ...(gpus && gpuVariables(role, slot)),
  };
}

/** The address of this machine in the network in which it reaches the store's server. */
export async function addressTowards(store: string): Promise<string> {
  const { hostname, port } = new URL(store);
  const socket = connect(Number(port || 6379), hostname.replace(/^\[|\]$/g, ""));
  try {
    await once(socket, "connect");
    return socket.localAddress ?? "127.0.0.1";
  } finally {
    socket.destroy();
  }
}

/** Retries while the server does not respond yet. */
async function patient<T>({ signal, say }: AgentOptions, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const mayCome = HoneError.is(error) && error.code === "HONE_ERR_IO";
      if (!mayCome || signal.aborted || performance.now() > deadline) throw error;
      say(`${error.message}; trying again`);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
