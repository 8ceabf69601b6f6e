import { join } from "node:path";
import { RUN_FILES } from "../metrics/index.ts";
import { Tail } from "./tail.ts";
import type { Mark } from "./wire.ts";

/** Recognises lines of the event log that are marks; other lines, which are most of the log, are not parsed. */
const WANTED = /^\{"e":"(?:resume|note)",/;
const KINDS: ReadonlySet<string> = new Set(["checkpoint", "phase", "pause", "control", "warning"]);

interface LoggedMark {
  readonly e: "resume" | "note";
  readonly s: number;
  readonly k?: string;
  readonly m?: string;
  readonly t?: number;
  readonly f?: number;
}

/** Entries of a run's event log other than groups and steps, read as it grows. */
export class Marks {
  readonly #tail: Tail;
  #marks: Mark[] = [];

  constructor(runDir: string) {
    this.#tail = new Tail(join(runDir, RUN_FILES.events));
  }

  get list(): readonly Mark[] {
    return this.#marks;
  }

  /** Reads new entries; returns whether there were any. Throws HONE_ERR_IO. */
  look(): boolean {
    const before = this.#marks;
    let found = 0;
    const lines = this.#tail.lines(() => {
      this.#marks = [];
    });
    for (const { text } of lines) {
      const mark = WANTED.test(text) ? markOf(text) : undefined;
      if (mark === undefined) continue;
      this.#marks.push(mark);
      found += 1;
    }
    return found > 0 || before !== this.#marks;
  }
}

/** Undefined for a damaged line, or one of a kind unknown to this version. */
function markOf(line: string): Mark | undefined {
  let event: LoggedMark;
  try {
    event = JSON.parse(line) as LoggedMark;
  } catch {
    return undefined;
  }
  if (event.e === "resume") return { kind: "resume", step: event.s, text: `resumed at step ${event.s}` };
  if (!KINDS.has(event.k ?? "")) return undefined;
  const { s: step, f: from, t: atMs, m: text = "" } = event;
  return {
    kind: event.k as Mark["kind"],
    step,
    text,
    ...(from !== undefined && { from }),
    ...(atMs !== undefined && { atMs }),
  };
}
