import { type PipelineStatus, type ProcessStatus, readPipelineStatus } from "../metrics/index.ts";
import { type RunFacts, readRun } from "./read-run.ts";

/** line.json is written once a second; older than this, and its process is stopped, hangs, or has no processor. */
const SILENT_MS = 5000;

/** A run at this moment, or how it was when it ended. */
export interface RunStatus extends Pick<RunFacts, "dir" | "name" | "steps" | "ofSteps"> {
  /** "silent": its process is alive but has written nothing for a while. */
  readonly state: RunFacts["state"] | "silent";
  /** Time of the following fields, milliseconds since 1970; undefined if the run has no line.json. */
  readonly asOfMs: number | undefined;
  readonly line: PipelineStatus | undefined;
  /** Processes of the run; if the run is over, none is alive, and their last activity is kept. */
  readonly processes: readonly ProcessStatus[];
}

/** Throws HONE_ERR_IO, HONE_ERR_FORMAT naming the file. */
export async function readStatus(dir: string): Promise<RunStatus> {
  const { name, steps, ofSteps, state } = await readRun(dir);
  const line = readPipelineStatus(dir);
  const base = { dir, name, steps: Math.max(steps, line?.step ?? 0), ofSteps, line, asOfMs: line?.writtenMs };
  const processes = line?.processes ?? [];
  if (state !== "running") return { ...base, state, processes: processes.map(over) };
  return { ...base, state: isSilent(line) ? "silent" : "running", processes };
}

/** A run whose training is over writes no more status: it is being evaluated and reported. */
function isSilent(line: PipelineStatus | undefined): boolean {
  if (line === undefined || (line.end !== undefined && line.end !== "stopping")) return false;
  return Date.now() - line.writtenMs > SILENT_MS;
}

const over = ({ pid: _, ...row }: ProcessStatus): ProcessStatus => ({ ...row, state: "gone" });
