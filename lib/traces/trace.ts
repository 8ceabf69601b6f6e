import type { Category, Step } from "./categories.ts";

/** A completion whose reasoning is analysed. */
export interface Trace {
  /** Identifies the problem: traces of one problem are not independent samples. */
  readonly problem: string;
  /** The question, if the folder has it. */
  readonly question: string | undefined;
  readonly text: string;
  /** Token count of the evaluation; undefined if a folder has none. */
  readonly tokens: number | undefined;
  /** Undefined without a verdict. */
  readonly correct: boolean | undefined;
}

/** Traces that are looked at together: an evaluation, a part of a run. */
export interface Side {
  readonly name: string;
  readonly traces: readonly Trace[];
}

/** One label per step; undefined: unclassified, because the reader's answer was invalid. */
export type Labels = readonly (Category | undefined)[];

/** A trace with its steps. */
export interface ReadTrace {
  readonly trace: Trace;
  readonly steps: readonly Step[];
  readonly labels: Labels;
  /** Labels of a second pass of the model over the steps; absent for one pass. */
  readonly second?: Labels | undefined;
}

/** Outcome of a side's traces; traces not in `read` are in no measure. */
export interface ReadSide {
  readonly name: string;
  readonly read: readonly ReadTrace[];
  /** Traces that an outage left unread, by reason. */
  readonly outages: Readonly<Record<string, number>>;
  /** Traces for which the reader gave no readable division into steps. */
  readonly unsplit: number;
}

/** Divides traces into steps and labels them. */
export interface Reader {
  /** Name for display. */
  readonly name: string;
  readonly read: (trace: Trace) => Promise<ReadTrace | { readonly outage: string } | "unsplit">;
  /** Labels the given steps. */
  readonly label: (trace: Trace, steps: readonly Step[]) => Promise<Labels | { readonly outage: string }>;
}
