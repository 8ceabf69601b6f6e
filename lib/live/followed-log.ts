import { join } from "node:path";
import { parseRecord, RUN_FILES } from "../metrics/index.ts";
import { type Row, StepTable } from "./step-table.ts";
import { Tail } from "./tail.ts";

/** Most steps that a poll, or a reconnecting listener, gets one by one; more are loaded as columns. */
export const MOST_REPEATED = 500;

/** Steps found by a look at a log. */
export interface FoundSteps {
  /** New rows, at most MOST_REPEATED + 1: the last of these shows that there are too many to repeat. */
  readonly rows: readonly Row[];
  /** True if the log was replaced, so that steps found earlier are no longer valid. */
  readonly replaced: boolean;
}

/** The steps of a run as its log has them. */
export interface StepLog {
  readonly table: StepTable;
  /** Number of lines left out because they are damaged. */
  readonly damaged: number;
  /** Position in the log: the file that is read, and the number of bytes read so far. */
  readonly at: { readonly id: string; readonly end: number };
  /** Reads the lines that were appended since the last call. Throws HONE_ERR_IO. */
  look(): FoundSteps;
}

/** A growing log, with every number of its steps. */
export class FollowedLog implements StepLog {
  readonly table = new StepTable();
  readonly #dir: string;
  readonly #tail: Tail;
  #damaged = 0;

  constructor(runDir: string) {
    this.#dir = runDir;
    this.#tail = new Tail(join(runDir, RUN_FILES.log));
  }

  get damaged(): number {
    return this.#damaged;
  }

  get at(): StepLog["at"] {
    return this.#tail;
  }

  look(): FoundSteps {
    const rows: Row[] = [];
    let replaced = false;
    const lines = this.#tail.lines(() => {
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
    return { rows, replaced };
  }

  #parsed(text: string, end: number): Row | undefined {
    try {
      return { record: parseRecord(text, () => this.#dir), end };
    } catch {
      this.#damaged += 1;
      return undefined;
    }
  }
}
