import type { Recipe } from "./schema.ts";

/** Type of both factors of the layers' products. */
export type Arithmetic = "f32" | "bf16";

/** The set of which the core says that it multiplies bf16 by an instruction; other sets take longer for the same bits. */
export const BF16_SET = "avx512bf16";

type Types = Pick<Recipe["model"], "arithmetic" | "weightStorage">;

/**
 * Returns how the core stores matrices, keys and values: as the recipe says, or bf16 where the model's weights are stored
 * so or products are to be in bf16, else f32.
 * @param config the model's config.json; left out for a recipe that says it, as every recorded one does
 */
export function storageOf({ model }: { readonly model: Types }, config = "{}"): "f32" | "bf16" {
  const { dtype, torch_dtype, text_config } = JSON.parse(config) as Partial<Record<string, unknown>>;
  const inner = (text_config ?? {}) as Partial<Record<string, unknown>>;
  const stored = dtype ?? torch_dtype ?? inner["dtype"] ?? inner["torch_dtype"];
  return model.weightStorage ?? (model.arithmetic === "bf16" || stored === "bfloat16" ? "bf16" : "f32");
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
  if (device === "cuda") return "bf16";
  return model.arithmetic ?? (model.weightStorage === "bf16" && isa === BF16_SET ? "bf16" : "f32");
}
