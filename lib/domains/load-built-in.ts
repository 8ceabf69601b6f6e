import type { Verifier } from "./verifier.ts";

/**
 * The verifier of that name in a built-in domain, prepared; undefined if there is none. For verifier processes: loads
 * only verifiers.ts of the domain's folder, and nothing of other domains.
 */
export async function loadBuiltIn(domain: string, name: string): Promise<Verifier | undefined> {
  const { VERIFIERS } = (await import(`./${domain}/verifiers.ts`)) as { VERIFIERS: readonly Verifier[] };
  const verifier = VERIFIERS.find((candidate) => candidate.name === name);
  await verifier?.prepare?.();
  return verifier;
}
