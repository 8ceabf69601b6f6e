import type { Verifier } from "./verifier.ts";

/**
 * The verifier of that name in a built-in domain, made ready; undefined where there is none. For the processes that judge:
 * of the domain's folder verifiers.ts alone is loaded, and of the others nothing.
 */
export async function loadBuiltIn(domain: string, name: string): Promise<Verifier | undefined> {
  const { VERIFIERS } = (await import(`./${domain}/verifiers.ts`)) as { VERIFIERS: readonly Verifier[] };
  const verifier = VERIFIERS.find((candidate) => candidate.name === name);
  await verifier?.prepare?.();
  return verifier;
}
