import type { Completion } from "../native/generations.ts";
import type { Lease } from "../streams/index.ts";
import type { faultText } from "./fault-text.ts";

/**
 * Time an outcome waits for others. A transaction, its write to the disk and the wake-up of its reader cost as much for
 * one outcome as for all that end within a few decode steps. An outcome does not wait if no other request is in flight.
 */
const LINGER_MS = 10;

export type Answered =
  | { readonly completions: readonly Completion[] }
  | { readonly fault: NonNullable<ReturnType<typeof faultText>> }
  | { readonly poison: true };

/** Outcome of a request, and the lease that ends with it. */
export interface SettledOutcome {
  readonly lease: Lease;
  readonly number: number;
  readonly answer: Answered;
}

/** Outcomes on their way to the store, those of one moment together. */
export class OutcomeBatcher {
  readonly #send: (outcomes: readonly SettledOutcome[]) => void;
  #waiting: SettledOutcome[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param send is given one at least, in the order in which they were added */
  constructor(send: (outcomes: readonly SettledOutcome[]) => void) {
    this.#send = send;
  }

  /** @param isLast nothing else is under way */
  add(outcome: SettledOutcome, isLast: boolean): void {
    this.#waiting.push(outcome);
    if (isLast) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), LINGER_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const outcomes = this.#waiting;
    this.#waiting = [];
    if (outcomes.length > 0) this.#send(outcomes);
  }
}
