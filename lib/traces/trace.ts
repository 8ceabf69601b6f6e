import type { Category, Step } from "./categories.ts";

/** A completion whose reasoning is looked at. */
export interface Trace {
  /** Whatever names the problem: traces of one problem are no independent sample. */
  readonly problem: string;
  /** What was asked, where the folder has it. */
  readonly question: string | undefined;
  readonly text: string;
  /** As the evaluation counted them; undefined where a folder has none. */
  readonly tokens: number | undefined;
  /** Undefined without a verdict. */
  readonly correct: boolean | undefined;
}

/** Traces that are looked at together: an evaluation, a part of a run. */
export interface Side {
  readonly name: string;
  readonly traces: readonly Trace[];
}

/** One label a step; undefined: unclassified, the reader's answer could not be read. */
export type Labels = readonly (Category | undefined)[];

/** A trace with its steps. */
export interface ReadTrace {
  readonly trace: Trace;
  readonly steps: readonly Step[];
  readonly labels: Labels;
  /** Of a second pass over the same steps, where there was one. */
  readonly second?: Labels | undefined;
}

/** What became of a side's traces; what is not in `read` is in no number. */
export interface ReadSide {
  readonly name: string;
  readonly read: readonly ReadTrace[];
  /** Traces that an outage left unread, by why. */
  readonly outages: Readonly<Record<string, number>>;
  /** Traces for which the reader gave no readable division into steps. */
  readonly unsplit: number;
}

/** Who finds steps and names them. */
export interface Reader {
  /** For people. */
  readonly name: string;
  readonly read: (trace: Trace) => Promise<ReadTrace | { readonly outage: string } | "unsplit">;
  /** Labels for steps that are there already. */
  readonly label: (trace: Trace, steps: readonly Step[]) => Promise<Labels | { readonly outage: string }>;
}
