import { join, resolve } from "node:path";
import { expectRoles, type Recipe, rolesOf } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { Agents, Processes } from "../fleet/index.ts";
import { expectRunnable, nativeCore } from "../orchestration/index.ts";

/** Subfolder of the run folder: weights in transfer between nodes. */
const IN_FLIGHT = "in-flight";

const NOBODY_TO_SCRAPE =
  "HONE_METRICS is set, but a run of one process serves no metrics there; to send a run's metrics somewhere, use a tracker (docs/how-to/trackers.md)";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Opens the actors, trainers and verifier hosts of the recipe: starts them here or, if HONE_AGENTS is set, waits for
 * agents with the same HONE_RUN_ID. Undefined for a run of one process. Throws HONE_ERR_USAGE for agents without a
 * store address.
 * @param before awaited before any process starts; its errors pass through
 */
export async function processesOf(
  recipe: Recipe,
  dir: string,
  before?: () => Promise<void>,
): Promise<Processes | Agents | undefined> {
  const { device, hardware } = recipe;
  const roles = rolesOf(recipe);
  const { HONE_STORE: store, HONE_AGENTS: agents, HONE_RUN_ID: runId, HONE_HOST: host } = process.env;
  if (agents === undefined && roles === undefined) {
    if (process.env["HONE_METRICS"]) say(NOBODY_TO_SCRAPE);
    return undefined;
  }
  await before?.();
  const { openAgents, openProcesses, usableMetricsPlace } = await import("../fleet/index.ts");
  const metrics = process.env["HONE_METRICS"];
  if (metrics) await usableMetricsPlace(metrics); // otherwise every process would fail on a bad address, after every restart
  const core = await nativeCore();
  const weights = hardware?.weights === undefined ? {} : { weights: hardware.weights };
  if (agents === undefined) {
    expectRunnable(recipe, core.info()); // processesOf does not check this machine if agents start the processes
    const address = store ? { store } : {};
    return openProcesses({
      ...roles!,
      ...address,
      ...weights,
      gpus: device === "cuda",
      core,
      say,
    });
  }
  if (!store || !runId)
    throw new HoneError(
      "HONE_ERR_USAGE",
      "a run whose processes are started by agents needs HONE_STORE and HONE_RUN_ID",
      {
        hint: "`hone agent` starts it with both.",
      },
    );
  const folder = join(resolve(dir), IN_FLIGHT);
  const place = { store, runId, folder, ...weights, ...(host && { host }) };
  return openAgents({ ...expectRoles(recipe), ...place, core });
}
