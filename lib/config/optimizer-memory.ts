import type { Recipe } from "./schema.ts";

/** Where the core keeps an optimizer's moments. Muon, which a warm start may use, cannot stream parts of a matrix. */
export function optimizerMemory({ hardware }: Recipe, kind: "adamw" | "muon"): "device" | "host" {
  return kind === "adamw" ? (hardware?.optimizerMemory ?? "device") : "device";
}
