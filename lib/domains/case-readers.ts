import { DOMAIN_ROWS } from "./registry.ts";
import type { CaseReader } from "./verify-case.ts";

/** Domains whose case files are read; their fields are in docs/reference/verify.md. */
export const CASE_DOMAINS: readonly string[] = DOMAIN_ROWS.map(([name]) => name);

/** Loads the reader of a domain's case files, with the domain's verifiers; undefined for an unknown domain. */
export async function loadCaseReader(domain: string): Promise<CaseReader | undefined> {
  if (!CASE_DOMAINS.includes(domain)) return undefined;
  const { readCase } = (await import(`./${domain}/cases.ts`)) as { readCase: CaseReader };
  return readCase;
}
