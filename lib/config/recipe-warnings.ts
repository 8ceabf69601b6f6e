import type { Recipe } from "./schema.ts";

/** Warnings about values that are allowed but hardly ever intended, in whole sentences. */
export function recipeWarnings({ optimizer, training }: Pick<Recipe, "optimizer" | "training">): string[] {
  const { warmupSteps, lr } = optimizer;
  const { steps } = training;
  if (steps === 0 || steps > warmupSteps) return [];
  const reached = (lr * steps) / warmupSteps;
  return [
    `optimizer.warmupSteps is ${warmupSteps} and the run has ${steps} steps: it is all warm-up, and the learning rate ends at ${reached.toPrecision(2)} instead of ${lr}`,
  ];
}
