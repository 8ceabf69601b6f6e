import { findBuiltIn as findOf, loadBuiltIn as loadOf } from "./load-built-in.ts";
import { DOMAIN_ROWS } from "./registry.ts";
import type { Verifier, VerifierFacts } from "./verifier.ts";

/** The facts of every built-in verifier, available without loading the verifiers. */
export const VERIFIERS: readonly VerifierFacts[] = DOMAIN_ROWS.flatMap(([, domain]) =>
  Object.values(domain.verifiers),
);

/** Each verifier's domain, by verifier name. */
export const VERIFIER_DOMAINS: ReadonlyMap<string, string> = new Map(
  DOMAIN_ROWS.flatMap(([name, domain]) =>
    Object.values(domain.verifiers).map((verifier) => [verifier.name, name] as const),
  ),
);

/** Version for the stored verdicts of users' own verifiers, whose changes cannot be detected. */
export const UNVERSIONED = 0;

/** The version of a built-in verifier, UNVERSIONED for any other. */
export const versionOf = (verifier: string): number =>
  VERIFIERS.find(({ name }) => name === verifier)?.version ?? UNVERSIONED;

const MAX_REASON_CHARS = 120;

/** Reason why a verifier refuses a reference, without row-specific parts, so that it can be counted. */
export function referenceFault(verifier: Verifier | undefined, reference: unknown): string | undefined {
  try {
    verifier?.parseReference(reference);
    return undefined;
  } catch (error) {
    const message = (error as Error).message.replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/\d+/g, "#");
    return `reference refused: ${message.slice(0, MAX_REASON_CHARS)}`;
  }
}

/** The built-in verifier of that name; undefined if there is none. */
export async function findBuiltIn(name: string): Promise<Verifier | undefined> {
  const domain = VERIFIER_DOMAINS.get(name);
  return domain === undefined ? undefined : await findOf(domain, name);
}

/** Like findBuiltIn, with the verifier prepared for judging. */
export async function loadBuiltIn(name: string): Promise<Verifier | undefined> {
  const domain = VERIFIER_DOMAINS.get(name);
  return domain === undefined ? undefined : await loadOf(domain, name);
}
