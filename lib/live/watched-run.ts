import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type PipelineStatus,
  RUN_FILES,
  readPipelineStatus,
  readRunManifest,
  type StoredManifest,
} from "../metrics/index.ts";
import { isLocked } from "../shared/files/folder-lock.ts";
import { EvaluationMarks } from "./evaluation-marks.ts";
import { FollowedLog, type FoundSteps, MOST_REPEATED, type StepLog } from "./followed-log.ts";
import { Marks } from "./marks.ts";
import { RecordedRollouts } from "./recorded-range.ts";
import type { Row, StepTable } from "./step-table.ts";
import type { Mark, RunInfo, RunState } from "./wire.ts";

/** A process without an update for this long counts as dead or hung. */
const SILENT_MS = 15_000;
/** After this long, in which it normally writes line.json several times, the folder's lock is checked. */
const QUIET_MS = 3000;

const TARGET = "mixture/target/";

/** The recipe's domains; if run.json has none, those in the log. */
const domainsOf = (named: readonly string[], metrics: readonly string[]): readonly string[] =>
  named.length > 0
    ? named
    : metrics.filter((name) => name.startsWith(TARGET)).map((name) => name.slice(TARGET.length));

/** Changes found by a look at a run. */
export interface Found extends FoundSteps {
  /** True if name, state, marks or metrics have changed. */
  readonly changed: boolean;
  /** The run's line.json, if it was written since the last look. */
  readonly status: PipelineStatus | undefined;
}

/** A watched run folder, of any process, finished or not. Reads only on request. */
export class WatchedRun {
  readonly dir: string;
  readonly run: number;
  readonly #log: StepLog;
  readonly #marks: Marks;
  readonly #evaluations: EvaluationMarks;
  readonly #recorded: RecordedRollouts;
  #manifest: StoredManifest | undefined;
  #manifestMs = 0;
  #status: PipelineStatus | undefined;
  #statusMs = 0;
  #lookedMs = 0;
  /** Time of the last observed write, by this process's clock; without an earlier look the file's own time counts. */
  #signMs: number | undefined;
  /** True if a process holds the folder's lock; only checked for a quiet run and for one whose training is over. */
  #held: boolean | undefined;
  #told = "";

  /** @param run index of the run among the watched ones. */
  constructor(dir: string, run: number, log: StepLog = new FollowedLog(dir)) {
    [this.dir, this.run, this.#log] = [dir, run, log];
    [this.#marks, this.#evaluations] = [new Marks(dir), new EvaluationMarks(dir)];
    this.#recorded = new RecordedRollouts(dir);
  }

  get table(): StepTable {
    return this.#log.table;
  }

  /** Position up to which the log has been read, for `Last-Event-ID`. */
  get cursor(): string {
    const { id, end } = this.#log.at;
    return `${id}.${end}`;
  }

  /** Reads what the run has written since the last call. Throws HONE_ERR_IO. */
  look(): Found {
    const steps = this.#log.look();
    this.#marks.look();
    this.#readManifest();
    const status = this.#readStatus();
    this.#lookedMs = Date.now();
    this.#lookForProcess();
    const told = JSON.stringify({ ...this.info(), rows: undefined, status: undefined });
    const changed = told !== this.#told;
    this.#told = told;
    return { ...steps, changed, status };
  }

  /** Rows after a cursor in the same file; undefined if it belongs to another file, or they are too many. */
  since(cursor: string): Row[] | undefined {
    const [id, end] = cursor.split(".");
    const { at } = this.#log;
    if (id !== at.id || !(Number(end) <= at.end)) return undefined;
    const first = this.table.rowAfter(Number(end));
    const length = this.table.length - first;
    return length > MOST_REPEATED ? undefined : Array.from({ length }, (_, i) => this.table.row(first + i));
  }

  info(): RunInfo {
    const { table, dir, run } = this;
    const manifest = this.#manifest;
    const recipe = manifest?.config as { training?: { steps?: number }; domains?: object } | undefined;
    return {
      run,
      name: manifest?.name ?? basename(dir),
      dir,
      state: this.#state(),
      startedAt: manifest?.startedAt ?? "",
      seeds: manifest?.seeds ?? {},
      rows: table.length,
      steps: this.#status?.steps ?? recipe?.training?.steps,
      domains: domainsOf(Object.keys(recipe?.domains ?? {}), table.names),
      names: table.names,
      marks: [...this.#marks.list, ...unloggedCheckpoints(dir, this.#marks.list), ...this.#evaluations.list],
      status: this.#status,
      ...keptIn(dir),
      recorded: this.#recorded.look(),
      damaged: this.#log.damaged,
    };
  }

  #readManifest(): void {
    const path = join(this.dir, RUN_FILES.manifest);
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (modified === this.#manifestMs) return;
    this.#manifestMs = modified;
    try {
      this.#manifest = modified === 0 ? undefined : readRunManifest(this.dir);
    } catch {
      this.#manifest = undefined; // an unreadable run.json: the folder's name will do
    }
  }

  #readStatus(): PipelineStatus | undefined {
    const path = join(this.dir, RUN_FILES.line);
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (modified === this.#statusMs) return undefined;
    this.#signMs = Date.now() - this.#lookedMs < QUIET_MS ? Date.now() : undefined;
    this.#held = undefined;
    this.#statusMs = modified;
    this.#status = readPipelineStatus(this.dir);
    return this.#status;
  }

  /** Time since the process last wrote line.json. The clock of another machine may differ. */
  #quietMs({ writtenMs }: PipelineStatus): number {
    return Date.now() - (this.#signMs ?? writtenMs);
  }

  /** Checks the folder's lock; the next look uses the answer. */
  #lookForProcess(): void {
    const status = this.#status;
    if (status === undefined || (this.#quietMs(status) < QUIET_MS && status.end !== "done")) return;
    void isLocked(this.dir).then((held) => {
      if (status === this.#status) this.#held = held;
    });
  }

  #state(): RunState {
    const status = this.#status;
    if (status === undefined) return existsSync(join(this.dir, RUN_FILES.summary)) ? "done" : "unfinished";
    const { end, paused } = status;
    const atWork = this.#held ?? this.#quietMs(status) < QUIET_MS;
    if (end === "done") return atWork && !isSummed(this.dir, this.#statusMs) ? "finishing" : "done";
    if (end !== undefined && end !== "stopping") return end === "aborted" ? "stopped" : end;
    if (this.#held === false) return "killed";
    if (this.#quietMs(status) > SILENT_MS) return "silent";
    if (end === "stopping") return "stopping";
    return paused ? "paused" : "running";
  }
}

const keptIn = (dir: string) => ({
  summary: existsSync(join(dir, RUN_FILES.summary)),
  journal: existsSync(join(dir, RUN_FILES.verdicts)),
});

/** True if summary.json was written at `sinceMs` or later. */
const isSummed = (dir: string, sinceMs: number): boolean =>
  (statSync(join(dir, RUN_FILES.summary), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs;

/** Checkpoints that are not in the log because an older version wrote it. */
function unloggedCheckpoints(dir: string, marks: readonly Mark[]): Mark[] {
  const logged = new Set(marks.filter(({ kind }) => kind === "checkpoint").map(({ step }) => step));
  const folder = join(dir, "checkpoints");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const step = Number(/^step-(\d{6})$/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(step) || logged.has(step)) return [];
    return [{ kind: "checkpoint" as const, step, text: `checkpoint ${name}` }];
  });
}
