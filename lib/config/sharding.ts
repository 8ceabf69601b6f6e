import type { Recipe } from "./schema.ts";

/** What the trainer's ranks divide, and the order in which they add up gradients; undefined where nothing is divided. */
export function shardingOf({ hardware }: Pick<Recipe, "hardware">) {
  const { sharding, processes } = hardware ?? {};
  if (sharding !== undefined) return sharding;
  return (processes?.trainers ?? 0) > 1 ? ({ stage: "optimizer", exact: true } as const) : undefined;
}
