import { HoneError } from "../errors.ts";

/** Why the store's state forbids an operation. */
export interface Refusal {
  /**
   * "lost": the store is not the one that was opened, or does not have the run; "fenced": the register of `fence` has
   * another value; "lease-lost", "trimmed", "ahead", "held": see the operations of StreamStore that refuse so.
   */
  readonly why: "lost" | "fenced" | "lease-lost" | "trimmed" | "ahead" | "held";
  /** The stream, register or run it is about. */
  readonly about: string;
  /** The value found, as `MESSAGES` prints it. */
  readonly found: string;
}

const MESSAGES: Readonly<Record<Refusal["why"], (about: string, found: string) => string>> = {
  lost: (run, found) => `the store does not hold run ${run}: ${found}`,
  fenced: (key, found) => `this process is out of date: register ${key} ${found}`,
  "lease-lost": (stream, found) =>
    `stream ${stream}: the lease of entry ${found} has passed to another consumer`,
  trimmed: (stream, found) =>
    `stream ${stream}: entries up to ${found} were deleted (trimmed), but the cursor points to an earlier one`,
  ahead: (stream, found) =>
    `stream ${stream} ends at entry ${found}, before the reader's cursor: the store is older than the cursor`,
  held: (stream, found) => `stream ${stream} cannot be trimmed: ${found}`,
};

const HINTS: Readonly<Partial<Record<Refusal["why"], string>>> = {
  lost: "give the run another store (another path, or another name of the run), or restore the files of this store; docs/explanation/streams.md says what is kept",
  ahead: "restore the store's files, or continue from an older checkpoint",
};

/** An operation on a stream that the store's content forbids; nothing was changed. */
export class StreamError extends HoneError {
  override readonly name = "StreamError";
  readonly why: Refusal["why"];

  constructor({ why, about, found }: Refusal) {
    const hint = HINTS[why];
    super("HONE_ERR_STREAM", MESSAGES[why](about, found), {
      details: { why, about, found },
      ...(hint !== undefined && { hint }),
    });
    this.why = why;
  }
}

export const fencedBy = (value: string | undefined, wanted: string): string =>
  `is ${value === undefined ? "not set" : JSON.stringify(value)}, not ${JSON.stringify(wanted)}`;

export const heldBy = (holder: string, needed: number): string => `${holder} still needs entry ${needed}`;

/** Reason of an entry whose readers all crashed. */
export const exhausted = (deliveries: number | string): string =>
  `delivered ${deliveries} times and never finished`;
