import { statSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, readJson } from "../metrics/index.ts";
import type { Mark } from "./wire.ts";

interface Board {
  readonly mean: { readonly score: number };
}
type Reader = (content: unknown) => Mark[];

/** Files that record held-out evaluations, each with the reader of its marks. */
const FILES: Readonly<Record<string, Reader>> = {
  [RUN_FILES.before]: (boards) => markOf(0, "evaluation before training", boards as Board[]),
  [RUN_FILES.validation]: (evaluated) =>
    (evaluated as { step: number; boards: Board[] }[]).flatMap(({ step, boards }) =>
      markOf(step, `evaluation of step ${step}`, boards),
    ),
  [RUN_FILES.summary]: (summary) => {
    const { steps, after } = summary as { steps: number; after: Board[] };
    return markOf(steps, "evaluation after training", after);
  },
};

function markOf(step: number, text: string, [board]: readonly Board[]): Mark[] {
  if (board === undefined) return [];
  return [{ kind: "evaluation", step, text: `${text}: mean score ${board.mean.score.toFixed(3)}` }];
}

/** Reads from a run's files at which steps it was evaluated; a file is read again when it has changed. */
export class EvaluationMarks {
  readonly #dir: string;
  readonly #known = new Map<string, { readonly writtenMs: number; readonly marks: readonly Mark[] }>();

  constructor(runDir: string) {
    this.#dir = runDir;
  }

  /** Marks by step: the last step was evaluated once, even if it is a candidate for several roles. */
  get list(): Mark[] {
    const marks = Object.entries(FILES).flatMap(([name, read]) => this.#of(name, read));
    return [...new Map(marks.map((mark) => [mark.step, mark])).values()];
  }

  #of(name: string, read: Reader): readonly Mark[] {
    const path = join(this.#dir, name);
    const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (writtenMs === undefined) return [];
    const known = this.#known.get(name);
    if (known?.writtenMs === writtenMs) return known.marks;
    const marks = marksIn(path, read);
    this.#known.set(name, { writtenMs, marks });
    return marks;
  }
}

/** Empty for a malformed file: a chart without marks is better than no page. */
function marksIn(path: string, read: Reader): Mark[] {
  try {
    return read(readJson(path));
  } catch {
    return [];
  }
}
