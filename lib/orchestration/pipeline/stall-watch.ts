import type { Clock } from "../../clock.ts";
import { HoneError } from "../../errors.ts";

/** The stages of the pipeline, the contents of each, and whether it makes progress. */
export interface PipelinePosition {
  /** Changes whenever anything moves: tokens, verdicts, steps. */
  readonly progress: number;
  /** One sentence per stage, in order of the pipeline: "engine: 12 sequences running, 0 waiting". */
  readonly stages: readonly string[];
  /** The stage that everything else waits for, as far as it can be determined. */
  readonly culprit: string;
}

/** Wraps a position so that it names the hook for which the pipeline waits, while a hook runs. */
export const heldByHook = (position: PipelinePosition, hook: string): PipelinePosition => ({
  ...position,
  stages: [...position.stages, `hooks: in ${hook}`],
  culprit: `hook ${hook} (it does not return)`,
});

const LOOKS_PER_LIMIT = 10;
const MAX_INTERVAL_MS = 1000;
/** Lateness of a poll in milliseconds from which on the process counts as suspended or busy. */
const STOOD_STILL_MS = 250;

/**
 * Awaits the work; throws HONE_ERR_STALL and abandons it if nothing progresses for too long. Time in which this
 * process itself was suspended does not count.
 */
export async function underWatch<T>(
  work: Promise<T>,
  limitSeconds: number,
  clock: Clock,
  position: () => PipelinePosition | undefined,
): Promise<T> {
  const watch = new StallWatch(limitSeconds, clock);
  const interval = Math.min(MAX_INTERVAL_MS, (limitSeconds * 1000) / LOOKS_PER_LIMIT);
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    let looked = performance.now();
    timer = setInterval(() => {
      const late = performance.now() - looked - interval;
      looked += interval + late;
      if (late > STOOD_STILL_MS) watch.forgive(late);
      const error = watch.look(position());
      if (error !== undefined) reject(error);
    }, interval).unref();
  });
  try {
    return await Promise.race([work, stalled]);
  } finally {
    clearInterval(timer);
  }
}

/** Detects when nothing has progressed for too long. Checks only when polled. */
export class StallWatch {
  readonly #limitMs: number;
  readonly #clock: Clock;
  #progress = Number.NaN;
  #since: number;

  constructor(limitSeconds: number, clock: Clock) {
    this.#limitMs = limitSeconds * 1000;
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Excludes the last `ms` milliseconds from the stall time. */
  forgive(ms: number): void {
    this.#since += ms;
  }

  /**
   * The error that ends the run, once `position` has shown no progress for the limit.
   * @param position undefined while the run is paused on request
   */
  look(position: PipelinePosition | undefined): HoneError | undefined {
    const now = this.#clock.now();
    if (position === undefined || position.progress !== this.#progress) {
      this.#progress = position?.progress ?? Number.NaN;
      this.#since = now;
      return undefined;
    }
    if (now - this.#since < this.#limitMs) return undefined;
    const seconds = Math.round((now - this.#since) / 1000);
    return new HoneError(
      "HONE_ERR_STALL",
      `nothing has moved for ${seconds} s; everything waits for the ${position.culprit}\n  ${position.stages.join("\n  ")}`,
      {
        details: { ...position },
        hint: "Resume from the last checkpoint; raise training.stallSeconds if the stage was only slow.",
      },
    );
  }
}
