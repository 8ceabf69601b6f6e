import type { Problem } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";

/**
 * Returns the identity of a problem over several draws: for a row its domain, question and reference; for a generated
 * problem its id, derived from its index in a sequence that the run's seed fixes.
 */
export function identityOf(problem: Problem, isRow: boolean): string {
  const { id, domain, question, messages, tools, reference } = problem;
  if (!isRow) return contentHash("generated", domain, String(id));
  const asked = JSON.stringify([question, messages ?? null, tools ?? null]);
  return contentHash("row", domain, asked, JSON.stringify(reference) ?? "");
}
