import { DOMAIN_ROWS } from "./registry.ts";
import type { CaseReader } from "./verify-case.ts";

/** Reads the rows of a domain's case files; their fields are in docs/verify.md. */
export const CASE_READERS: ReadonlyMap<string, CaseReader> = new Map(
  DOMAIN_ROWS.flatMap(([name, { readCase }]) => (readCase ? [[name, readCase] as const] : [])),
);
