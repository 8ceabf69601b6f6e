import type { MetricSheet } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

/**
 * "before": until the trainer has its groups; "training": from then until the new weights are with the engines; "rest":
 * what no other stage claims, wherever in the step it was.
 */
type Part = "before" | "training" | "rest";

interface Stage {
  readonly name: string;
  readonly part: Part;
  /** Seconds of the stage in a step; undefined if the step did not measure them. */
  readonly seconds: (facts: Pick<StepFacts, "timing" | "update">) => number | undefined;
}

/** A step's wall time by stage, without overlap, in order. Excludes `recording`, which runs concurrently. */
const STAGES: readonly Stage[] = [
  { name: "logging", part: "before", seconds: ({ timing }) => timing.logging },
  { name: "checkpointing", part: "before", seconds: ({ timing }) => timing.checkpointing },
  { name: "waiting", part: "before", seconds: ({ timing }) => timing.waiting },
  { name: "reference", part: "training", seconds: ({ update }) => update?.referenceSeconds },
  { name: "teacher", part: "training", seconds: ({ update }) => update?.teacherSeconds },
  { name: "gradients", part: "training", seconds: ({ update }) => update?.gradients?.seconds },
  { name: "starting", part: "training", seconds: ({ update }) => update?.report.startSeconds },
  { name: "packing", part: "training", seconds: ({ update }) => update?.report.packSeconds },
  { name: "forward", part: "training", seconds: ({ update }) => update?.report.forwardSeconds },
  { name: "backward", part: "training", seconds: ({ update }) => update?.report.backwardSeconds },
  { name: "optimizer", part: "training", seconds: ({ update }) => update?.report.optimizerSeconds },
  { name: "publishing", part: "training", seconds: ({ update }) => update?.report.publishSeconds },
  { name: "other", part: "rest", seconds: unclaimed },
];

function unclaimed(facts: Pick<StepFacts, "timing" | "update">): number {
  const claimed = STAGES.flatMap(({ part, seconds }) => (part === "rest" ? [] : (seconds(facts) ?? 0)));
  return Math.max(0, facts.timing.total - claimed.reduce((sum, seconds) => sum + seconds, 0));
}

/**
 * Stages whose metrics `time/<name>` add up to `time/step`, in their order; the last is time that belongs to
 * no stage.
 */
export const STEP_STAGES: readonly string[] = STAGES.map(({ name }) => name);

/** `time/<name>` of every stage that was measured. */
export function putStages(sheet: MetricSheet, facts: StepFacts): void {
  for (const { name, seconds } of STAGES) sheet.put(`time/${name}`, seconds(facts));
}

/** Every stage with its seconds in a step's metrics: 0 if the step did not measure it. */
export function stagesOf(
  metrics: Readonly<Record<string, number>>,
): (Omit<Stage, "seconds"> & { readonly seconds: number })[] {
  return STAGES.map(({ name, part }) => ({ name, part, seconds: metrics[`time/${name}`] ?? 0 }));
}
