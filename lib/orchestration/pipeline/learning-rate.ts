export interface LearningRateShape {
  readonly warmupSteps: number;
  readonly schedule: "constant" | "cosine";
  readonly finalFraction: number;
}

/**
 * Factor on the learning rate at a step (from 0): linear warm-up min(1, (step + 1) / warmupSteps), times 1 or
 * finalFraction + (1 - finalFraction) (1 + cos(pi step / steps)) / 2.
 */
export function learningRateFactor(step: number, steps: number, shape: LearningRateShape): number {
  const warmup = shape.warmupSteps > 0 ? Math.min(1, (step + 1) / shape.warmupSteps) : 1;
  if (shape.schedule === "constant") return warmup;
  const cosine = (1 + Math.cos((Math.PI * step) / steps)) / 2;
  return warmup * (shape.finalFraction + (1 - shape.finalFraction) * cosine);
}
