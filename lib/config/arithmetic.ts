import { type Arithmetic, defaultArithmetic, storedAs } from "../shared/models/weight-types.ts";
import type { Recipe } from "./schema.ts";

type Types = Pick<Recipe["model"], "arithmetic" | "weightStorage">;

/**
 * Returns the storage type of matrices, keys and values: the recipe's, or else bf16 if the model's weights are stored
 * as bf16 or products are to be in bf16, else f32.
 * @param config the model's config.json; not needed if the recipe sets the type, as every recorded one does
 */
export function storageOf({ model }: { readonly model: Types }, config = "{}"): "f32" | "bf16" {
  return model.weightStorage ?? (model.arithmetic === "bf16" ? "bf16" : storedAs(config));
}

/** Returns why the recipe's arithmetic is not possible; undefined if it is. */
export function whyNotMultiplied({ device, model }: Pick<Recipe, "device" | "model">): string | undefined {
  const { arithmetic, weightStorage } = model;
  if (device === "cuda")
    return arithmetic === "f32" ? 'is "f32", but a GPU multiplies in bf16; leave it out' : undefined;
  return arithmetic === "bf16" && weightStorage === "f32"
    ? `is "bf16", which multiplies weights stored as bf16; model.weightStorage is "f32"`
    : undefined;
}

/**
 * Returns the recipe's arithmetic, or the default: bf16 if weights are stored as bf16 and the processor has an
 * instruction for it. Always bf16 on a GPU.
 */
export function arithmeticOf(
  { device, model }: Pick<Recipe, "device"> & { readonly model: Types },
  isa: string,
): Arithmetic {
  const fallback = defaultArithmetic(device, model.weightStorage, isa);
  return device === "cuda" ? fallback : (model.arithmetic ?? fallback);
}
