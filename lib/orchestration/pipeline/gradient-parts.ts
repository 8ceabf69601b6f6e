import type { Clock } from "../../clock.ts";
import type { Recipe } from "../../config/index.ts";
import type { GradientFacts } from "../../metrics/index.ts";
import type { StepOptions, TrainerFace, TrainingBatch } from "../../native/face.ts";
import type { AssembledBatch } from "./training-batch.ts";

export type { GradientFacts };

/** @param step from 0; the step numbers that users see start at 1. */
export function gradientsAreDue({ metrics: { gradients } }: Recipe, step: number): boolean {
  return gradients.everySteps > 0 && (step + 1) % gradients.everySteps === 0;
}

/** The parts of a batch: a domain's groups, whole or in two halves. */
export interface BatchParts {
  /** [S] index of the part to which each sequence belongs. */
  readonly partOf: Int32Array;
  readonly parts: GradientFacts["parts"];
}

/**
 * Parts of the batch's domains, in the order of `domains`. With `halves` a domain's groups alternate between
 * its halves, so that early groups are in both; its first group goes to the half that has fewer groups over
 * the whole batch so far.
 */
export function partsOf(
  { rollouts, groupOf }: Pick<AssembledBatch, "rollouts" | "groupOf">,
  domains: readonly string[],
  halves: boolean,
): BatchParts {
  const names = rollouts.map(({ rollout }) => rollout.problem.domain);
  const present = domains.filter((domain) => names.includes(domain));
  const width = halves ? 2 : 1;
  const counts = new Int32Array(present.length * width);
  const partOf = new Int32Array(rollouts.length);
  const half = [0, 0];
  for (let i = 0; i < partOf.length; i++) {
    if (i > 0 && groupOf[i] === groupOf[i - 1]) {
      partOf[i] = partOf[i - 1]!;
      continue;
    }
    const first = present.indexOf(names[i]!) * width;
    const ahead = counts[first]! - counts[first + 1]! || half[0]! - half[1]!;
    const side = halves && ahead > 0 ? 1 : 0;
    partOf[i] = first + side;
    counts[first + side]! += 1;
    half[side]! += 1;
  }
  const parts = [...counts].map((groups, part) => ({ domain: present[Math.floor(part / width)]!, groups }));
  return { partOf, parts };
}

/** Measures the gradients of the parts with the options of the coming step; does not update weights. */
export async function measureGradients(
  assembled: Pick<AssembledBatch, "rollouts" | "groupOf">,
  step: {
    readonly recipe: Recipe;
    readonly trainer: TrainerFace;
    readonly clock: Clock;
    readonly data: TrainingBatch;
    readonly options: StepOptions;
  },
): Promise<GradientFacts> {
  const { domains, metrics } = step.recipe;
  const { partOf, parts } = partsOf(assembled, Object.keys(domains), metrics.gradients.noiseScale);
  const begun = step.clock.now();
  const { products } = await step.trainer.gradientParts(step.data, step.options, partOf, parts.length);
  // measured from the call on: otherwise no stage would include the wait for a core or the transfer of a
  // batch to another process
  return { parts, products, seconds: (step.clock.now() - begun) / 1000 };
}
