import { contentHash } from "../../shared/files/content-hash.ts";
import type { JudgedProblem } from "./journal-lines.ts";

const BEGINNING_CHARS = 60;

/**
 * Returns the identity (`identityOf`) of a journal line's problem. Lines of older versions lack it: it is
 * then derived from the prompt, or without a prompt from the id.
 */
export function identityOfLine({ id, domain, prompt, reference, identity }: JudgedProblem): string {
  if (identity !== undefined) return identity;
  if (prompt === undefined) return contentHash("generated", domain, String(id));
  return contentHash("prompt", domain, prompt, JSON.stringify(reference) ?? "");
}

/** Returns the first sixty characters of a question or prompt on one line; no character is cut in two. */
export const beginning = (text: string): string =>
  [
    ...text
      .slice(0, 10 * BEGINNING_CHARS)
      .replace(/\s+/g, " ")
      .trim(),
  ]
    .slice(0, BEGINNING_CHARS)
    .join("");
