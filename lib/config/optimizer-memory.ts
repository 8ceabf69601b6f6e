import type { Recipe } from "./schema.ts";

/** Where an optimizer's moments lie, as the core takes it. Muon, which a warm start may use, has no part of a matrix to stream. */
export function optimizerMemory({ hardware }: Recipe, kind: "adamw" | "muon"): "device" | "host" {
  return kind === "adamw" ? (hardware?.optimizerMemory ?? "device") : "device";
}
