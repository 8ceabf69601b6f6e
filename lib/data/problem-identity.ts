import type { Problem } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";

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
