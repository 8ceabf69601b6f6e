import { createHash } from "node:crypto";

/** Names content by 128 bits of SHA-256, in hex: equal parts in equal order have equal names. */
export const contentHash = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
