import { loadBuiltIn as loadOf } from "./load-built-in.ts";
import { DOMAIN_ROWS } from "./registry.ts";
import type { Verifier } from "./verifier.ts";

/** Every built-in verifier. */
export const VERIFIERS: readonly Verifier[] = DOMAIN_ROWS.flatMap(([, domain]) => domain.verifiers);

/** The domain of each of them, by verifier name. */
export const VERIFIER_DOMAINS: ReadonlyMap<string, string> = new Map(
  DOMAIN_ROWS.flatMap(([name, domain]) => domain.verifiers.map((verifier) => [verifier.name, name] as const)),
);

/** The built-in verifier of that name, prepared; undefined if there is none. */
export async function loadBuiltIn(name: string): Promise<Verifier | undefined> {
  const domain = VERIFIER_DOMAINS.get(name);
  return domain === undefined ? undefined : await loadOf(domain, name);
}
