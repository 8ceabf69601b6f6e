import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type PipelineStatus,
  parseRecord,
  RUN_FILES,
  readPipelineStatus,
  readRunManifest,
  type StoredManifest,
} from "../metrics/index.ts";
import { isLocked } from "../shared/files/folder-lock.ts";
import { EvaluationMarks } from "./evaluation-marks.ts";
import { Marks } from "./marks.ts";
import { RecordedRollouts } from "./recorded-range.ts";
import { type Row, StepTable } from "./step-table.ts";
import { Tail } from "./tail.ts";
import type { Mark, RunInfo, RunState } from "./wire.ts";

/** A process that has said nothing for so long is taken for gone, or hung. */
const SILENT_MS = 15_000;
/** After so long, in which it writes line.json several times, it is asked for at the folder's lock. */
const QUIET_MS = 3000;

const TARGET = "mixture/target/";

/** Those of the recipe; of a run.json that tells none, those of the log. */
const domainsOf = (named: readonly string[], metrics: readonly string[]): readonly string[] =>
  named.length > 0
    ? named
    : metrics.filter((name) => name.startsWith(TARGET)).map((name) => name.slice(TARGET.length));

/** Steps that a look, or a listener that comes back, gets one by one; more are loaded as columns. */
export const MOST_REPEATED = 500;

/** Changes found by a look at a run. */
export interface Found {
  /** The first MOST_REPEATED + 1 of the new ones. */
  readonly rows: readonly Row[];
  /** Its log was replaced: earlier events no longer hold. */
  readonly replaced: boolean;
  /** Name, state, marks or metrics are others than before. */
  readonly changed: boolean;
  /** Set if it was written since the last look. */
  readonly status: PipelineStatus | undefined;
}

/** A watched run folder, of any process, finished or not. Reads only on request. */
export class WatchedRun {
  readonly dir: string;
  readonly run: number;
  readonly table: StepTable;
  readonly #log: Tail;
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
  /** True if a process holds the folder's lock; known of a quiet run and of one whose training is over. */
  #held: boolean | undefined;
  #damaged = 0;
  #told = "";

  /** @param run its place among those watched. @param keeps as for StepTable. */
  constructor(dir: string, run: number, keeps?: (metric: string) => boolean) {
    [this.dir, this.run, this.table] = [dir, run, new StepTable(keeps)];
    this.#log = new Tail(join(dir, RUN_FILES.log));
    [this.#marks, this.#evaluations] = [new Marks(dir), new EvaluationMarks(dir)];
    this.#recorded = new RecordedRollouts(dir);
  }

  /** Position up to which the log has been read, for `Last-Event-ID`. */
  get cursor(): string {
    return `${this.#log.id}.${this.#log.end}`;
  }

  /** Reads what is new. Throws HONE_ERR_IO. */
  look(): Found {
    const rows: Row[] = [];
    let replaced = false;
    const lines = this.#log.lines(() => {
      replaced = this.table.length > 0;
      this.table.clear();
      this.#damaged = 0;
    });
    for (const { text, bytes } of lines) {
      const row = this.#parsed(text, bytes.end);
      if (row === undefined) continue;
      this.table.add(row);
      if (rows.length <= MOST_REPEATED) rows.push(row);
    }
    this.#marks.look();
    this.#readManifest();
    const status = this.#readStatus();
    this.#lookedMs = Date.now();
    this.#lookForProcess();
    const told = JSON.stringify({ ...this.info(), rows: undefined, status: undefined });
    const changed = told !== this.#told;
    this.#told = told;
    return { rows, replaced, changed, status };
  }

  /** Rows that follow a cursor in the same file; undefined if it belongs to another one, or they are too many. */
  since(cursor: string): Row[] | undefined {
    const [id, end] = cursor.split(".");
    if (id !== this.#log.id || !(Number(end) <= this.#log.end)) return undefined;
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
      damaged: this.#damaged,
    };
  }

  #parsed(text: string, end: number): Row | undefined {
    try {
      return { record: parseRecord(text, () => this.dir), end };
    } catch {
      this.#damaged += 1;
      return undefined;
    }
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

  /** The answer counts at the next look. */
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

/** True if there is a summary of what was trained until then. */
const isSummed = (dir: string, sinceMs: number): boolean =>
  (statSync(join(dir, RUN_FILES.summary), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs;

/** Checkpoints that the log does not tell of: it was written by an older version. */
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
