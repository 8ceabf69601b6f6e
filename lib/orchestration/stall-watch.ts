import type { Clock } from "../clock.ts";
import { HoneError } from "../errors.ts";

/** Who is in the line, what each holds, and whether it stands still. */
export interface LinePosition {
  /** Changes whenever anything moves: tokens, verdicts, steps. */
  readonly progress: number;
  /** One sentence per stage, in order of the line: "engine: 12 sequences running, 0 waiting". */
  readonly stages: readonly string[];
  /** The one that everything else waits for, as far as it can be told. */
  readonly culprit: string;
}

/** Notices when nothing has moved for too long. Looks only when asked. */
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

  /** The error that ends the run, once `position` has shown no progress for the limit. */
  look(position: LinePosition): HoneError | undefined {
    const now = this.#clock.now();
    if (position.progress !== this.#progress) {
      this.#progress = position.progress;
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
        hint: "Resume from the last checkpoint; raise training.stallSeconds if this was only slow.",
      },
    );
  }
}
