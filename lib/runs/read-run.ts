import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { fileWork, RUN_FILES, RunDigest, readRunManifest } from "../metrics/index.ts";
import { type EvaluationTable, type RunSummary, readSummary } from "../report/index.ts";
import { isLocked } from "../shared/files/folder-lock.ts";

/** Number of bytes read from the end of the event log; only lines of groups can be longer than this. */
const TAIL_BYTES = 65_536;
/** "killed": the process ended by an error or a signal before it could record an end. */
export type RunState = "running" | "finished" | "stopped" | "failed" | "killed";

/** Facts about a run that can be read from its folder. */
export interface RunFacts {
  readonly dir: string;
  readonly name: string;
  readonly seed: number;
  readonly state: RunState;
  /** Start of the last session, ISO 8601, UTC. */
  readonly startedAt: string;
  /** Number of finished steps; `ofSteps`: number in the recipe. */
  readonly steps: number;
  readonly ofSteps: number | undefined;
  /** The mean score of the last step's rollouts. */
  readonly score: number | undefined;
  /** Held-out results under the first sampling setting; undefined if the run did not reach that evaluation. */
  readonly before: EvaluationTable | undefined;
  readonly after: EvaluationTable | undefined;
  /** The recipe in run.json. */
  readonly recipe: unknown;
}

/** Throws HONE_ERR_IO, HONE_ERR_FORMAT naming the file. */
export async function readRun(dir: string): Promise<RunFacts> {
  const { name, config, startedAt } = readRunManifest(dir);
  const isRunning = await isLocked(dir); // checked before the files are read: a run that ends now has written them all
  const recipe = config as { seed?: number; training?: { steps?: number } } | undefined;
  const log = join(dir, RUN_FILES.log);
  const last = existsSync(log) ? new RunDigest(log, join(dir, RUN_FILES.digest)).last : undefined;
  const summary = readSummary(dir);
  const steps = last?.step ?? 0;
  // a later session may not have written its own summary
  const current = summary !== undefined && summary.steps >= steps ? summary : undefined;
  return {
    dir,
    name: name ?? basename(dir),
    seed: recipe?.seed ?? 0,
    state: isRunning ? "running" : stateOf(dir, current, recipe?.training?.steps),
    startedAt,
    steps,
    ofSteps: recipe?.training?.steps,
    score: last?.metrics["score/mean"],
    before: current?.before[0],
    after: current?.after[0],
    recipe: config,
  };
}

function stateOf(dir: string, summary: RunSummary | undefined, ofSteps: number | undefined): RunState {
  if (summary !== undefined) return summary.state === "done" ? "finished" : summary.state;
  const end = lastEvent(join(dir, RUN_FILES.events));
  if (end?.e !== "end") return "killed";
  return end.s !== undefined && ofSteps !== undefined && end.s >= ofSteps ? "finished" : "stopped";
}

/**
 * Reads the last event, which tells how a run ended that has no summary: createRun alone, without a session,
 * writes none.
 */
function lastEvent(path: string): { readonly e?: string; readonly s?: number } | undefined {
  if (!existsSync(path)) return undefined;
  const fd = fileWork(path, () => openSync(path, "r"));
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    const line = tail.toString("utf8").trimEnd().split("\n").at(-1) ?? "";
    return JSON.parse(line) as { e?: string; s?: number };
  } catch {
    return undefined; // torn, or a line of a group longer than the tail: not an end event in either case
  } finally {
    closeSync(fd);
  }
}
