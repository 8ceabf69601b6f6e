import { type Arithmetic, defaultArithmetic, storedAs } from "../shared/models/weight-types.ts";
import type { Recipe } from "./schema.ts";

type Types = Pick<Recipe["model"], "arithmetic" | "weightStorage">;

/**
 * Returns how the core stores matrices, keys and values: as the recipe says, or bf16 where the model's weights are stored
 * so or products are to be in bf16, else f32.
 * @param config the model's config.json; left out for a recipe that says it, as every recorded one does
 */
export function storageOf({ model }: { readonly model: Types }, config = "{}"): "f32" | "bf16" {
  return model.weightStorage ?? (model.arithmetic === "bf16" ? "bf16" : storedAs(config));
}

/** Returns why the recipe cannot have the arithmetic that it asks for, undefined where it can. */
export function whyNotMultiplied({ device, model }: Pick<Recipe, "device" | "model">): string | undefined {
  const { arithmetic, weightStorage } = model;
  if (device === "cuda")
    return arithmetic === "f32" ? 'is "f32", but a GPU multiplies in bf16; leave it out' : undefined;
  return arithmetic === "bf16" && weightStorage === "f32"
    ? `is "bf16", which multiplies weights stored as bf16; model.weightStorage is "f32"`
    : undefined;
}

/**
 * Returns what the recipe asks for, or the default: bf16 where weights are stored so and the core has an instruction for it.
 * On a GPU always bf16.
 */
export function arithmeticOf(
  { device, model }: Pick<Recipe, "device"> & { readonly model: Types },
  isa: string,
): Arithmetic {
  const fallback = defaultArithmetic(device, model.weightStorage, isa);
  return device === "cuda" ? fallback : (model.arithmetic ?? fallback);
}
