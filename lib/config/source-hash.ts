import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fileHash } from "../trust.ts";
import { isModulePlace } from "../user-module.ts";

/**
 * Hash of functions' sources, 64 hexadecimal digits. Ignores spaces and line ends: TypeScript loaders replace types
 * by spaces.
 */
// biome-ignore lint/complexity/noBannedTypes: any function has a source
export function sourceHash(...from: Function[]): string {
  const sources = from.map((one) => Function.prototype.toString.call(one).replace(/\s+/g, " "));
  return createHash("sha256").update(sources.join("\n")).digest("hex");
}

/** Hash of a module's file; undefined if the file does not exist. */
export function hashAt(place: string): string | undefined {
  if (!isModulePlace(place)) return undefined;
  const [file] = place.split("#", 1) as [string];
  try {
    return fileHash(file.startsWith("file:") ? fileURLToPath(file) : resolve(file));
  } catch {
    return undefined;
  }
}
