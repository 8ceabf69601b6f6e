import { z } from "zod";
import { type Roles, rolesOf } from "./roles.ts";

export const shardingSchema = z.strictObject({
  /**
   * "optimizer": AdamW's moments; "gradients": also gradients; "parameters": also weights. The last two are
   * always exact.
   */
  stage: z.enum(["optimizer", "gradients", "parameters"]).default("optimizer"),
  /**
   * Gives the same bits for any number of trainers, including one; false sends one gradient per step instead of one
   * per micro-batch.
   */
  exact: z.boolean().default(true),
  /**
   * Number of neighbouring trainers that share a micro-batch, which then has that many times training.packedTokens:
   * each takes a part of the rows, and in attention all rows of a part of the heads. Divides trainers and the model's
   * heads and kvHeads.
   */
  sequence: z.int().min(1).max(1024).default(1),
});

interface Divided {
  readonly device?: string | undefined;
  readonly hardware?:
    | {
        readonly sharding?: z.infer<typeof shardingSchema> | undefined;
        readonly processes?: Roles | undefined;
        readonly gpus?: number;
        readonly actorGpus?: number | undefined;
      }
    | undefined;
}

interface Heads {
  readonly heads: number;
  readonly kvHeads: number;
}

/** State that the trainer's ranks shard, and the order in which they add up gradients; undefined if nothing is sharded. */
export function shardingOf(recipe: Divided): z.infer<typeof shardingSchema> | undefined {
  const { sharding } = recipe.hardware ?? {};
  if (sharding !== undefined) return sharding;
  return (rolesOf(recipe)?.trainers ?? 0) > 1 ? { stage: "optimizer", exact: true, sequence: 1 } : undefined;
}

interface RouterTerms {
  readonly balanceCoef: number;
  readonly zCoef: number;
}

/** Why trainers cannot compute the routers' loss terms; undefined if they can. */
export function whyNotBalanced(
  recipe: Divided & { readonly objective: { readonly router?: RouterTerms | undefined } },
): string | undefined {
  const { balanceCoef = 0, zCoef = 0 } = recipe.objective.router ?? {};
  const { sequence = 1 } = recipe.hardware?.sharding ?? {};
  return sequence > 1 && (balanceCoef > 0 || zCoef > 0)
    ? `is given, but its terms need whole sequences, which hardware.sharding.sequence ${sequence} divides; leave one of the two out`
    : undefined;
}

/**
 * Why trainers cannot share micro-batches; undefined if they can. Only the core knows a model folder's heads.
 */
export function whyNotTogether(
  recipe: Divided & { readonly model: { readonly config?: Heads | undefined } },
): string | undefined {
  const { hardware, model } = recipe;
  const sequence = hardware?.sharding?.sequence ?? 1;
  const { trainers = 0 } = rolesOf(recipe) ?? {};
  const counted =
    hardware?.processes === undefined ? "hardware.gpus - actorGpus" : "hardware.processes.trainers";
  const { heads = 0, kvHeads = 0 } = model.config ?? {};
  const counts: [string, number][] = [
    ["model.config.heads", heads],
    ["model.config.kvHeads", kvHeads],
    // A single trainer then adds up gradients in the order in which several trainers would.
    [counted, trainers > 1 ? trainers : 0],
  ];
  const odd = counts.find(([, count]) => count % sequence !== 0);
  return (
    odd && `is ${sequence}, which does not divide ${odd[0]} ${odd[1]}: every trainer must have equally many`
  );
}
