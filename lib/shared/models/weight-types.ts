import { parseConfig } from "./config-json.ts";

/** Type of both factors of the products in the layers. */
export type Arithmetic = "f32" | "bf16";

/** Storage type of matrices, keys and values; and type of the factors of products. */
export interface WeightTypes {
  readonly weightStorage: "f32" | "bf16";
  readonly arithmetic: Arithmetic;
}

/**
 * The instruction set with bf16 products. On other instruction sets the core emulates them: slower, with equal bits.
 */
export const BF16_SET = "avx512bf16";

/** Returns the type of a model's weights in its files, by its config.json: bf16, or f32 for all others. */
export function storedAs(config: string): "f32" | "bf16" {
  const { dtype, torch_dtype, text_config } = parseConfig(config) as Partial<Record<string, unknown>>;
  const inner = (text_config ?? {}) as Partial<Record<string, unknown>>;
  const stored = dtype ?? torch_dtype ?? inner["dtype"] ?? inner["torch_dtype"];
  return stored === "bfloat16" ? "bf16" : "f32";
}

/**
 * Returns the default arithmetic for a storage type: bf16 for bf16 weights if the core has an instruction for it.
 * Always bf16 on a GPU.
 */
export const defaultArithmetic = (
  device: "cpu" | "cuda",
  weightStorage: WeightTypes["weightStorage"] | undefined,
  isa: string,
): Arithmetic => (device === "cuda" || (weightStorage === "bf16" && isa === BF16_SET) ? "bf16" : "f32");
