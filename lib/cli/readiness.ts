import { expectRoles, processCount, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { awaitReadiness, type ReadyProcess } from "../fleet/index.ts";
import { type Placement, placeProcesses, readLauncherEnv } from "../launch/index.ts";
import { textTable } from "../report/index.ts";
import { processesOf } from "./run-processes.ts";

/** Time limit for the start of all processes on all nodes. */
const WAIT_MS = 300_000;

/**
 * Coordinates a run of agents up to the point where it would open a model: a process in every slot, trainers
 * connected with each other, as in a real run. Returns a table of the processes. Throws HONE_ERR_COLLECTIVE naming
 * slots that stay empty, HONE_ERR_STATE with the reason that a node reported.
 */
export async function reportReadiness(recipe: Recipe, dir: string): Promise<string> {
  const roles = expectRoles(recipe);
  const placements = placeProcesses(roles, readLauncherEnv(process.env).nodes);
  await using agents = await processesOf(recipe, dir);
  if (agents === undefined)
    throw new HoneError(
      "HONE_ERR_INTERNAL",
      "a dry run checks how several processes start, but this recipe runs in one process",
    );
  const wanted = placements.flat().map(({ role, rank }) => `${role}.${rank}`);
  const present = await awaitReadiness(() => agents.core.readyProcesses(), wanted, WAIT_MS);
  return readinessText(placements, present, processCount(roles));
}

function readinessText(
  placements: readonly Placement[][],
  present: readonly ReadyProcess[],
  count: number,
): string {
  const rows = placements.flatMap((own, node) =>
    own.map(({ role, rank, slot }) => {
      const { epoch, host, pid } = present.find((each) => each.role === role && each.rank === rank)!;
      return [node, slot, `${role}.${rank}`, epoch, host, pid].map(String);
    }),
  );
  const table = textTable({ head: ["node", "slot", "process", "epoch", "host", "pid"], rows }, 80);
  return [
    ...table,
    "",
    `all ${count} processes on ${placements.length} nodes have started; no device was opened`,
  ].join("\n");
}
