import { createHash } from "node:crypto";

/** Names content by 128 bits of SHA-256, in hex: the same parts in the same order have the same name. */
export const contentHash = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
