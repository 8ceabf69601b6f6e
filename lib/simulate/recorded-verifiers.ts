import { existsSync } from "node:fs";
import { readVerdictJournal } from "../orchestration/index.ts";
import type { DomainName } from "../records.ts";

/** The verifier that judges each domain, from a run's verdicts; empty without a journal. */
export async function verifiersOf(path: string): Promise<Map<DomainName, string>> {
  const verifiers = new Map<DomainName, string>();
  if (!existsSync(path)) return verifiers;
  for await (const entry of readVerdictJournal(path))
    if (entry.kind === "completion") verifiers.set(entry.problem.domain, entry.problem.verifier);
  return verifiers;
}
