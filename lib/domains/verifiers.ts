import { DOMAIN_ROWS } from "./registry.ts";
import type { Verifier } from "./verifier.ts";

/** Every built-in verifier. */
export const VERIFIERS: readonly Verifier[] = DOMAIN_ROWS.flatMap(([, domain]) => domain.verifiers);

/** The built-in verifier of that name, made ready; undefined where there is none. */
export async function loadBuiltIn(name: string): Promise<Verifier | undefined> {
  const verifier = VERIFIERS.find((candidate) => candidate.name === name);
  await verifier?.prepare?.();
  return verifier;
}
