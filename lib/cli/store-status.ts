import { liveMembers } from "../fleet/index.ts";
import type { ProcessStatus } from "../metrics/index.ts";
import type { RunStatus } from "../runs/index.ts";
import { Trust } from "../trust.ts";

/**
 * Replaces the process rows of a run whose own process does not respond by those in the store: live actors and
 * verifier hosts. If the store fails, the error is shown as the state of these processes.
 * @param address of the store, as the user gives it. Default: the address that line.json names, if it is a Unix
 * socket or `trust` allows the server, since the server would receive the password of this process's environment
 */
export async function asTheStoreSays(
  status: RunStatus,
  address?: string,
  trust = Trust.none(),
): Promise<RunStatus> {
  const store = status.line?.store;
  if (status.state !== "silent" || store === undefined) return status;
  const rest = status.processes.map((row) => (row.name === "run" ? silent(row, "writes nothing") : row));
  if (address === undefined && !mayAsk(store.address, trust)) {
    const said = `its store, ${store.address}, is contacted only with --store <address> or --trust`;
    return { ...status, processes: rest.map((row) => (isMember(row) ? silent(row, said) : row)) };
  }
  try {
    const living = await liveMembers({ ...store, ...(address !== undefined && { address }) });
    const names = new Set<string>(living.map(({ place }) => place));
    return { ...status, processes: rest.map((row) => memberRow(row, names)) };
  } catch (error) {
    const said = `the store: ${(error as Error).message}`;
    return { ...status, processes: rest.map((row) => (isMember(row) ? silent(row, said) : row)) };
  }
}

/** A local socket is sent no password. */
const isLocal = (url: string): boolean => /^(?:redis\+)?unix:/.test(url);

const mayAsk = (url: string, trust: Trust): boolean =>
  isLocal(url) ||
  trust.allows({ field: "store.address", kind: "server", url, keyEnv: "HONE_REDIS_PASSWORD" });

/** True if the process sends heartbeats to the store. */
const isMember = ({ name, pooled }: ProcessStatus): boolean =>
  name.startsWith("actor.") || (name.startsWith("verifier.") && !pooled);

const silent = (row: ProcessStatus, doing: string): ProcessStatus => ({ ...row, state: "silent", doing });

function memberRow(row: ProcessStatus, names: ReadonlySet<string>): ProcessStatus {
  if (!isMember(row)) return row;
  return names.has(row.name) ? { ...row, state: "alive" } : silent(row, "sends no heartbeat");
}
