import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import {
  CONTROL_ACTIONS,
  type ControlAction,
  type ControlRequest,
  RUN_FILES,
  writeWhole,
} from "../metrics/index.ts";
import type { WatchedRun } from "./watched-run.ts";

const LISTENING: ReadonlySet<string> = new Set(["running", "paused"]);

/**
 * Writes a request to the run's folder, which its process polls once a second; line.json and the event log record the
 * outcome. Throws HONE_ERR_USAGE for an unknown action, HONE_ERR_STATE if no process would read it, HONE_ERR_IO.
 */
export function requestControl(run: WatchedRun, action: unknown, by: string): ControlRequest {
  if (!CONTROL_ACTIONS.includes(action as ControlAction)) {
    const known = CONTROL_ACTIONS.join(", ");
    throw new HoneError("HONE_ERR_USAGE", `action ${JSON.stringify(action)} is unknown; known: ${known}`);
  }
  const { state } = run.info();
  if (!LISTENING.has(state))
    throw new HoneError(
      "HONE_ERR_STATE",
      `${run.dir}: cannot ${action}: the run is ${state}, and no process executes it`,
    );
  const id = `${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
  const request = { schema: 1, id, action: action as ControlAction, by } as const;
  const folder = join(run.dir, RUN_FILES.requests);
  mkdirSync(folder, { recursive: true });
  writeWhole(join(folder, `${id}.json`), `${JSON.stringify(request)}\n`);
  return request;
}
