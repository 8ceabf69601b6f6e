import { livingMembers } from "../fleet/index.ts";
import type { ProcessStatus } from "../metrics/index.ts";
import type { RunStatus } from "../runs/index.ts";

/**
 * Of a run whose own process is silent: who of its actors and verifier hosts is alive, from the store itself. What the store says instead of
 * an answer becomes what they do.
 * @param address of the store; default: what the run wrote, which has no password
 */
export async function asTheStoreSays(status: RunStatus, address?: string): Promise<RunStatus> {
  const store = status.line?.store;
  if (status.state !== "silent" || store === undefined) return status;
  const rest = status.processes.map((row) => (row.name === "run" ? silent(row, "writes nothing") : row));
  try {
    const living = await livingMembers({ ...store, ...(address !== undefined && { address }) });
    const names = new Set<string>(living.map(({ place }) => place));
    return { ...status, processes: rest.map((row) => memberRow(row, names)) };
  } catch (error) {
    const said = `the store: ${(error as Error).message}`;
    return { ...status, processes: rest.map((row) => (isMember(row) ? silent(row, said) : row)) };
  }
}

/** Whether it would show the store signs of life. */
const isMember = ({ name, pooled }: ProcessStatus): boolean =>
  name.startsWith("actor.") || (name.startsWith("verifier.") && !pooled);

const silent = (row: ProcessStatus, doing: string): ProcessStatus => ({ ...row, state: "silent", doing });

function memberRow(row: ProcessStatus, names: ReadonlySet<string>): ProcessStatus {
  if (!isMember(row)) return row;
  return names.has(row.name) ? { ...row, state: "alive" } : silent(row, "gives no sign of life");
}
