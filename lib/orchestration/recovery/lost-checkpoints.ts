import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../../errors.ts";
import { RUN_FILES, RunLogReader, wholeLines } from "../../metrics/index.ts";
import { Checkpoints } from "./checkpoints.ts";

/** Stands for the last checkpoint's name in a run without events.jsonl. */
const UNKNOWN = "";

/**
 * Throws HONE_ERR_CHECKPOINT for a run that wrote checkpoints but has none now: resuming from "the newest" would
 * restart at step 1 and replace its records. A run that was killed before its first checkpoint may restart.
 */
export function expectCheckpoints(dir: string): void {
  const checkpoints = new Checkpoints(dir);
  if (checkpoints.list().length > 0) return;
  const { steps, saved } = recordedSteps(dir);
  if (steps === 0 || saved === undefined) return;
  const { directory } = checkpoints;
  const found = existsSync(directory)
    ? `no step has one in ${directory} now`
    : `${directory} is not there now`;
  throw new HoneError(
    "HONE_ERR_CHECKPOINT",
    `${dir} cannot be resumed: its run did ${steps} steps${saved === UNKNOWN ? "" : ` and saved ${saved}`}, but ${found}`,
    {
      details: { dir, steps },
      hint: "Put the checkpoints back. To begin again at step 1 and replace the run: --overwrite instead of --resume (createRun: overwrite: true, without resume).",
    },
  );
}

/** The number of steps that a run folder records, and the name of its last checkpoint. */
export function recordedSteps(dir: string): { readonly steps: number; readonly saved: string | undefined } {
  const events = join(dir, RUN_FILES.events);
  if (existsSync(events)) return fromEvents(events);
  const log = join(dir, RUN_FILES.log);
  const steps = existsSync(log) ? new RunLogReader(log).length : 0;
  return { steps, saved: UNKNOWN };
}

/** Reads only lines that count steps or name checkpoints; those of groups are long. */
function fromEvents(path: string): ReturnType<typeof recordedSteps> {
  let steps = 0;
  let saved: string | undefined;
  for (const line of wholeLines(path)) {
    const step = /^\{"e":"step","s":(\d+),/.exec(line)?.[1];
    if (step !== undefined) steps = Number(step) + 1;
    if (line.startsWith('{"e":"note"')) saved = /"m":"checkpoint (step-\d+)"/.exec(line)?.[1] ?? saved;
  }
  return { steps, saved };
}
