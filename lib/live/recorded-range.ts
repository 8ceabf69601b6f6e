import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROLLOUT_FILE, RUN_FILES } from "../metrics/index.ts";
import type { RecordedRange } from "./wire.ts";

/** Number of files whose size is read; all other files are assumed to have the mean size. */
const MEASURED = 50;

/** Recorded rollouts in a run folder; reads the folder again only if it has changed. */
export class RecordedRollouts {
  readonly #folder: string;
  #changedMs = 0;
  #range: RecordedRange | undefined;

  constructor(dir: string) {
    this.#folder = join(dir, RUN_FILES.rollouts);
  }

  /** Undefined if no rollouts are recorded. */
  look(): RecordedRange | undefined {
    const changedMs = statSync(this.#folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changedMs === this.#changedMs) return this.#range;
    this.#changedMs = changedMs;
    this.#range = changedMs === 0 ? undefined : rangeOf(this.#folder);
    return this.#range;
  }
}

function rangeOf(folder: string): RecordedRange | undefined {
  const names = readdirSync(folder).filter((name) => ROLLOUT_FILE.test(name));
  const steps = names.map((name) => Number(ROLLOUT_FILE.exec(name)![1])).sort((a, b) => a - b);
  if (steps.length === 0) return undefined;
  const measured = names.slice(0, MEASURED);
  const bytes = measured.reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  return { from: steps[0]!, to: steps.at(-1)!, bytes: Math.round((bytes / measured.length) * names.length) };
}
