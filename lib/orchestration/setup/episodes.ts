import { environmentOf, type Recipe } from "../../config/index.ts";
import { environmentName } from "../../domains/index.ts";
import type { Play } from "../../episodes/index.ts";
import { HoneError } from "../../errors.ts";
import type { DomainName, Episode, Verdict } from "../../records.ts";
import type { VerificationRequest, VerifierPool } from "../../rewards/index.ts";

type Verifiers = Pick<VerifierPool, "verify" | "stats">;
type Written = NonNullable<Recipe["domains"][string]["environment"]>;

const DEFAULTS = { maxTurns: 8, timeoutMs: 10_000 } as const;

/**
 * Environments and limits of the domains that are played in several turns. An environment that is not in this process,
 * as in a recipe read from JSON, throws HONE_ERR_CONFIG when it is asked.
 */
export function playsOf({ domains }: Pick<Recipe, "domains">): Map<DomainName, Play> {
  const plays = new Map<DomainName, Play>();
  for (const [domain, { environment, episode = DEFAULTS }] of Object.entries(domains)) {
    if (environment === undefined) continue;
    plays.set(domain, { environment: environmentOf(environment) ?? absent(domain, environment), ...episode });
  }
  return plays;
}

function absent(domain: string, written: Written): Play["environment"] {
  const refuse = (): never => {
    throw notHere(domain);
  };
  const tools = typeof written === "object" && "tools" in written ? written.tools : undefined;
  const shown = typeof tools === "string" && { tools: JSON.parse(tools) as unknown[] };
  return { reset: refuse, step: refuse, score: refuse, ...shown };
}

function notHere(domain: string): HoneError {
  return new HoneError("HONE_ERR_CONFIG", `the environment of ${domain} is not here, only a hash of it`, {
    hint: "Run the script that has it: a recipe that went through JSON, or was spread into another object, lost its functions.",
  });
}

/** Throws HONE_ERR_CONFIG for an environment that is not in this process. */
export function expectEnvironments({ domains }: Pick<Recipe, "domains">): void {
  for (const [domain, { environment }] of Object.entries(domains))
    if (environment !== undefined && environmentOf(environment) === undefined) throw notHere(domain);
}

/** The same verifiers; an episode has the verdict of its environment already. */
export function besideEpisodes(verifiers: Verifiers): Verifiers {
  return {
    verify: async (requests: readonly (VerificationRequest & { readonly episode?: Episode })[]) => {
      const others = requests.filter(({ episode }) => episode === undefined);
      const verdicts = others.length === 0 ? [] : await verifiers.verify(others);
      let next = 0;
      return requests.map(({ episode }): Verdict => episode?.verdict ?? verdicts[next++]!);
    },
    stats: () => verifiers.stats(),
  };
}

/** Whether problems that name this verifier are judged by an environment. */
export const isEnvironment = (verifier: string): boolean => verifier.startsWith(environmentName(""));
