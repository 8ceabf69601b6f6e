import { z } from "zod";

export const shardingSchema = z.strictObject({
  /** "optimizer": AdamW's moments. "gradients": gradients too, "parameters": weights too; these are always exact. */
  stage: z.enum(["optimizer", "gradients", "parameters"]).default("optimizer"),
  /** The same bits for any number of trainers, one included; false sends a gradient a step instead of one a micro-batch. */
  exact: z.boolean().default(true),
});

interface Divided {
  readonly hardware?:
    | {
        readonly sharding?: z.infer<typeof shardingSchema> | undefined;
        readonly processes?: { readonly trainers: number } | undefined;
      }
    | undefined;
}

/** What the trainer's ranks divide, and the order in which they add up gradients; undefined where nothing is divided. */
export function shardingOf({ hardware }: Divided): z.infer<typeof shardingSchema> | undefined {
  const { sharding, processes } = hardware ?? {};
  if (sharding !== undefined) return sharding;
  return (processes?.trainers ?? 0) > 1 ? { stage: "optimizer", exact: true } : undefined;
}
