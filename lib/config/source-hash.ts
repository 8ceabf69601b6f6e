import { createHash } from "node:crypto";

/**
 * Hash of a function's source, 64 hexadecimal digits. Spaces and line ends do not count: loaders of TypeScript put
 * spaces where types were.
 */
// biome-ignore lint/complexity/noBannedTypes: any function has a source
export function sourceHash(from: Function): string {
  const source = Function.prototype.toString.call(from).replace(/\s+/g, " ");
  return createHash("sha256").update(source).digest("hex");
}
