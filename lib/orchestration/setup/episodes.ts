import {
  environmentOf,
  expectTrustedRecipes,
  inPythonFile,
  type PythonWritten,
  pythonSettings,
  type Recipe,
} from "../../config/index.ts";
import { type Play, PythonEnvironment } from "../../episodes/index.ts";
import { HoneError } from "../../errors.ts";
import type { DomainName, Episode, Verdict } from "../../records.ts";
import type { VerificationRequest, VerifierPool } from "../../rewards/index.ts";
import { pythonPlace } from "../../user-module.ts";

/** The part of a verifier pool that a run uses. */
export interface Verifiers
  extends Pick<VerifierPool, "verify" | "stats">,
    Partial<Pick<VerifierPool, "pids">> {
  /** Number of workers. Default: the number in the recipe. */
  readonly workers?: number | undefined;
}
type Played = Pick<Recipe, "domains" | "python"> & {
  readonly evaluation: Pick<Recipe["evaluation"], "sets">;
};
type Written = NonNullable<Recipe["domains"][string]["environment"]>;

const DEFAULTS = { maxTurns: 8, timeoutMs: 10_000 } as const;

/** Domains and validation sets by name; no name occurs in both. */
const playedOf = ({ domains, evaluation }: Played) => Object.entries({ ...evaluation.sets, ...domains });

/** Environments and limits by domain or validation set. `dispose` ends the environments' processes. */
export class Plays extends Map<DomainName, Play> implements Disposable {
  [Symbol.dispose](): void {
    for (const { python } of this.values()) python?.close();
  }
}

/**
 * Environments and limits of the domains and validation sets that are played in several turns. An environment
 * that is not in this process, as in a recipe read from JSON, throws HONE_ERR_CONFIG when it is called.
 * Python starts with the first episode.
 */
export function playsOf(recipe: Played): Plays {
  const plays = new Plays();
  for (const [domain, { environment, episode = DEFAULTS }] of playedOf(recipe)) {
    if (environment === undefined) continue;
    const play = inPythonFile(environment)
      ? { ...episode, ...inPython(recipe, environment, episode) }
      : { ...episode, environment: environmentOf(environment) ?? absent(domain, environment) };
    plays.set(domain, play);
  }
  return plays;
}

/** The processes enforce the time limit from the start of each call, because an episode may wait for a free process. */
function inPython(recipe: Played, written: PythonWritten, { timeoutMs }: Pick<Play, "timeoutMs">) {
  const { bin: command, env: variables, processes, timeoutSeconds } = pythonSettings(recipe);
  const limitMs = Math.min(timeoutMs, timeoutSeconds * 1000);
  const source = { command, variables, processes, limitMs, ...pythonPlace(written.python) };
  const python = new PythonEnvironment(source, written.tools);
  return { environment: python, python, timeoutMs: LONGEST_TIMER_MS };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

function absent(domain: string, written: Written): Play["environment"] {
  const refuse = (): never => {
    throw notHere(domain);
  };
  const tools = typeof written === "object" && "tools" in written ? written.tools : undefined;
  const shown = typeof tools === "string" && { tools: JSON.parse(tools) as unknown[] };
  return { reset: refuse, step: refuse, score: refuse, ...shown };
}

function notHere(domain: string): HoneError {
  return new HoneError(
    "HONE_ERR_CONFIG",
    `the environment of ${domain} is not available in this process, only its hash`,
    {
      hint: "Run the script that has it: a recipe that went through JSON, or was spread into another object, lost its functions.",
    },
  );
}

/**
 * Throws HONE_ERR_CONFIG for an environment that is not in this process, HONE_ERR_TRUST for one in Python that the record
 * of a folder names and the user has not allowed.
 */
export function expectEnvironments(recipe: Recipe): void {
  expectTrustedRecipes([recipe], ["environments"]);
  for (const [domain, { environment }] of playedOf(recipe)) {
    if (environment === undefined || inPythonFile(environment)) continue;
    if (environmentOf(environment) === undefined) throw notHere(domain);
  }
}

/** Wraps verifiers so that an episode keeps the verdict of its environment. */
export function besideEpisodes(verifiers: Verifiers): Verifiers {
  return {
    verify: async (requests: readonly (VerificationRequest & { readonly episode?: Episode })[]) => {
      const others = requests.filter(({ episode }) => episode === undefined);
      const verdicts = others.length === 0 ? [] : await verifiers.verify(others);
      let next = 0;
      return requests.map(({ episode }): Verdict => episode?.verdict ?? verdicts[next++]!);
    },
    stats: () => verifiers.stats(),
    pids: () => verifiers.pids?.() ?? [],
    get workers() {
      return verifiers.workers;
    },
  };
}
