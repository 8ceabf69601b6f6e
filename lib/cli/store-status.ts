import { livingActors } from "../fleet/index.ts";
import type { ProcessStatus } from "../metrics/index.ts";
import type { RunStatus } from "../runs/index.ts";

/**
 * Of a run whose own process is silent: who of its actors is alive, from the store itself. What the store says instead of
 * an answer becomes what they do.
 * @param address of the store; default: what the run wrote, which has no password
 */
export async function asTheStoreSays(status: RunStatus, address?: string): Promise<RunStatus> {
  const store = status.line?.store;
  if (status.state !== "silent" || store === undefined) return status;
  const rest = status.processes.map((row) => (row.name === "run" ? silent(row, "writes nothing") : row));
  try {
    const living = await livingActors({ ...store, ...(address !== undefined && { address }) });
    const names = new Set(living.map(({ index }) => `actor.${index}`));
    return { ...status, processes: rest.map((row) => actorRow(row, names)) };
  } catch (error) {
    const said = `the store: ${(error as Error).message}`;
    return { ...status, processes: rest.map((row) => (isActor(row) ? silent(row, said) : row)) };
  }
}

const isActor = ({ name }: ProcessStatus): boolean => name.startsWith("actor.");

const silent = (row: ProcessStatus, doing: string): ProcessStatus => ({ ...row, state: "silent", doing });

function actorRow(row: ProcessStatus, names: ReadonlySet<string>): ProcessStatus {
  if (!isActor(row)) return row;
  return names.has(row.name) ? { ...row, state: "alive" } : silent(row, "gives no sign of life");
}
