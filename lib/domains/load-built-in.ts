import type { Verifier } from "./verifier.ts";

/**
 * The verifier of that name in a built-in domain; undefined if there is none. Loads only verifiers.ts of the domain's
 * folder, and nothing of other domains.
 */
export async function findBuiltIn(domain: string, name: string): Promise<Verifier | undefined> {
  const { VERIFIERS } = (await import(`./${domain}/verifiers.ts`)) as { VERIFIERS: readonly Verifier[] };
  return VERIFIERS.find((candidate) => candidate.name === name);
}

/** Like findBuiltIn, with the verifier prepared for judging. */
export async function loadBuiltIn(domain: string, name: string): Promise<Verifier | undefined> {
  const verifier = await findBuiltIn(domain, name);
  await verifier?.prepare?.();
  return verifier;
}
