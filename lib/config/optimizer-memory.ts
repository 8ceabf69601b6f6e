import type { Recipe } from "./schema.ts";

/**
 * Memory of an optimizer's moments, as the core takes it. Muon, which a warm start may use, cannot stream parts of a
 * matrix.
 */
export function optimizerMemory({ hardware }: Recipe, kind: "adamw" | "muon"): "device" | "host" {
  return kind === "adamw" ? (hardware?.optimizerMemory ?? "device") : "device";
}
