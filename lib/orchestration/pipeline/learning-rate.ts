export interface LearningRateShape {
  readonly warmupSteps: number;
  readonly schedule: "constant" | "cosine" | "linear";
  readonly finalFraction: number;
}

/**
 * Factor on the learning rate at a step (from 0): linear warm-up min(1, (step + 1) / warmupSteps), times 1 or
 * finalFraction + (1 - finalFraction) x, where x falls from 1 to 0: (1 + cos(pi step / steps)) / 2 for "cosine"; for
 * "linear" (steps - step) / (steps - warmupSteps) after the warm-up, as transformers' linear schedule.
 */
export function learningRateFactor(step: number, steps: number, shape: LearningRateShape): number {
  const warmup = shape.warmupSteps > 0 ? Math.min(1, (step + 1) / shape.warmupSteps) : 1;
  if (shape.schedule === "constant") return warmup;
  const fallen =
    shape.schedule === "cosine"
      ? (1 + Math.cos((Math.PI * step) / steps)) / 2
      : Math.min(1, (steps - step) / Math.max(1, steps - shape.warmupSteps));
  return warmup * (shape.finalFraction + (1 - shape.finalFraction) * fallen);
}
