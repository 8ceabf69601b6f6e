import { contentHash } from "../../content-hash.ts";
import type { Problem } from "../../records.ts";
import type { JudgedProblem } from "./journal-lines.ts";

const BEGINNING_CHARS = 60;

/**
 * Returns what makes a problem the same one whenever it is drawn: of a row its domain, what it asks and its reference;
 * of a generated problem its id, which is made of the index in a sequence that the run's seed fixes.
 */
export function identityOf(problem: Problem, isRow: boolean): string {
  const { id, domain, question, messages, tools, reference } = problem;
  if (!isRow) return contentHash("generated", domain, String(id));
  const asked = JSON.stringify([question, messages ?? null, tools ?? null]);
  return contentHash("row", domain, asked, JSON.stringify(reference) ?? "");
}

/** Returns the same of a line of a journal: one of an older version is told by its prompt, without one by its id. */
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
