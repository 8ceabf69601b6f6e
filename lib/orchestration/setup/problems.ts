import { expectTrustedRecipes, type Recipe, readsColumns, readsReference } from "../../config/index.ts";
import type { Admission, HubOrigin, ProblemSource, SourceOptions } from "../../data/index.ts";
import {
  isBenchmark,
  judgedBy,
  openProblemSource,
  openValidationSource,
  playedIn,
  rewardedBy,
  rewardName,
} from "../../domains/index.ts";
import type { Play } from "../../episodes/index.ts";
import { HoneError } from "../../errors.ts";
import type { DomainName } from "../../records.ts";
import { playsOf } from "./episodes.ts";
import { localSource } from "./hub-sources.ts";
import type { PromptPlace } from "./prompt-format.ts";
import { openRowThreads, type RowThreadTask } from "./row-threads.ts";

/** Content keys of held-out rows by domain. */
export type HeldOut = ReadonlyMap<DomainName, ReadonlySet<string>>;

/** Problems to evaluate in addition to those of the domains. */
export interface ValidationSet {
  readonly source: ProblemSource;
  /** Default: as many as per domain. */
  readonly problems?: number | undefined;
  readonly attempts?: number | undefined;
  readonly maxTokens?: number | undefined;
}

export interface Problems {
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  readonly sets: ReadonlyMap<string, ValidationSet>;
}

interface OpenOptions {
  /** Called for every row of a data set; rejected rows are left out and counted in the source's report. */
  readonly admit?: Admission;
  /** Data with which other threads can format prompts, so that they admit the same rows as `admit`. */
  readonly prompts?: PromptPlace;
  /** Held-out problems that a resumed run already chose. Without them the recipe's `heldOut` fields choose. */
  readonly heldOut?: HeldOut | undefined;
  /** Commits of the Hub data sets that a resumed run read, in place of the recipe's revisions. */
  readonly commits?: HubCommits | undefined;
}

/** Commits of the Hub's repositories by domain and validation set. */
export type HubCommits = ReadonlyMap<DomainName, readonly HubOrigin[]>;

/**
 * Every domain's problems, in the recipe's order, and the validation sets; domains exclude the rows of these sets,
 * and of sets that the run had but the recipe no longer names. Throws HONE_ERR_CONFIG or HONE_ERR_DATA.
 */
export async function openProblems(recipe: Recipe, options: OpenOptions = {}): Promise<Problems> {
  expectTrustedRecipes([recipe], ["problems"]);
  const sets = await openSets(recipe, options);
  const asked = new Set([...sets.values()].flatMap(({ source }) => source.heldOutKeys ?? []));
  for (const [name, keys] of options.heldOut ?? [])
    if (recipe.domains[name] === undefined) for (const key of keys) asked.add(key);
  return { sources: await openDomains(recipe, options, asked), sets };
}

async function openDomains(
  recipe: Recipe,
  opening: OpenOptions,
  asked: ReadonlySet<string>,
): Promise<Map<DomainName, ProblemSource>> {
  const sources = new Map<DomainName, ProblemSource>();
  const { domains, seed, training } = recipe;
  const { heldOut, commits } = opening;
  const plays = playsOf(recipe);
  for (const [ordinal, [domain, one]] of Object.entries(domains).entries()) {
    const { source, verifier, reward, rewards } = one;
    const held = heldOut?.get(domain);
    const chosen = one.curriculum !== undefined && { byPlace: true };
    const place = { seed, ordinal, domain, elsewhere: asked, ...(held && { heldOut: held }), ...chosen };
    const [options, admits] = rowsOf(place, one, admissionIn(recipe, opening));
    const { source: here, hub } = await localSource(source, { ...options, domain }, commits?.get(domain));
    if (training.steps > 0 && isBenchmark(here)) throw benchmark(domain, source);
    const opened = await openProblemSource(here, { ...options, ...(hub.length > 0 && { hub }) }, admits);
    if (opened.domain !== domain) {
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `domains.${domain}.source is ${nameOf(source)}, whose domain is ${opened.domain}`,
      );
    }
    sources.set(domain, judged(opened, domain, { verifier, reward, rewards, play: plays.get(domain) }));
  }
  return sources;
}

async function openSets(recipe: Recipe, opening: OpenOptions): Promise<Map<string, ValidationSet>> {
  const sets = new Map<string, ValidationSet>();
  const { domains, evaluation, seed } = recipe;
  const first = Object.keys(domains).length;
  const plays = playsOf(recipe);
  for (const [i, [name, set]] of Object.entries(evaluation.sets).entries()) {
    const { source, verifier, reward, rewards, environment: _, episode: __, ...how } = set;
    const place: SourceOptions = { seed, ordinal: first + i, domain: name };
    const [options, admits] = rowsOf(place, set, admissionIn(recipe, opening));
    const use = { ...options, domain: name, validates: true };
    const { source: here, hub } = await localSource(source, use, opening.commits?.get(name));
    const opened = await openValidationSource(here, { ...options, ...(hub.length > 0 && { hub }) }, admits);
    const by = { verifier, reward, rewards, play: plays.get(name) };
    sets.set(name, { ...how, source: judged(opened, name, by) });
  }
  return sets;
}

/** The function that admits rows in this thread, and the data that other threads need to admit the same rows. */
interface Admitting {
  readonly admit?: Admission | undefined;
  readonly elsewhere?: Pick<RowThreadTask, "limits" | "prompts"> | undefined;
}

function admissionIn({ rollouts, verification }: Recipe, { admit, prompts }: OpenOptions): Admitting {
  if (prompts === undefined) return { admit };
  const { maxPromptTokens } = rollouts;
  const limits = { rollouts: { maxPromptTokens }, verification: { modules: verification.modules } };
  return { admit, elsewhere: { limits, prompts } };
}

/**
 * Options for reading and admitting rows. Without a verifier, rows need no answer, and the built-in verifier of the
 * domain's name does not read one.
 */
function rowsOf(
  options: SourceOptions,
  judges: Parameters<typeof readsReference>[0] & Pick<Recipe["domains"][string], "curriculum">,
  { admit, elsewhere }: Admitting,
): [SourceOptions, Admission | undefined] {
  const keepsColumns = readsColumns(judges) || judges.curriculum?.difficulty?.column !== undefined;
  const isRead = readsReference(judges);
  const verifier = isRead ? undefined : rewardName(options.domain!);
  const place: SourceOptions = {
    ...options,
    ...(keepsColumns && { keepsColumns }),
    ...(!isRead && { needsReference: false }),
    ...(elsewhere && { openThreads: (rows) => openRowThreads({ rows, verifier, ...elsewhere }) }),
  };
  return [place, admit && (verifier === undefined ? admit : (problem) => admit({ ...problem, verifier }))];
}

type JudgedBy = Pick<Recipe["domains"][string], "verifier" | "reward" | "rewards"> & {
  readonly play: Play | undefined;
};

/** A source whose problems are judged as the recipe says. @param name of the domain or validation set */
function judged(
  source: ProblemSource,
  name: string,
  { verifier, reward, rewards, play }: JudgedBy,
): ProblemSource {
  if (play !== undefined) return playedIn(source, name, play.environment);
  const strict = verifier === undefined ? source : judgedBy(source, verifier.compat);
  return reward === undefined && rewards === undefined ? strict : rewardedBy(strict, name);
}

function benchmark(domain: DomainName, source: Recipe["domains"][string]["source"]): HoneError {
  const set = `evaluation: { sets: { ${domain}: { source: ... } } }`;
  return new HoneError(
    "HONE_ERR_CONFIG",
    `domains.${domain}.source is ${nameOf(source)}, a benchmark: all of its rows are held out, so that none is left to train on`,
    {
      hint: `Evaluate it beside training, ${set}, and train on other rows; rows of a file of yours are trained on without the name of a kind.`,
    },
  );
}

const nameOf = (source: Recipe["domains"][string]["source"]) =>
  typeof source === "string" ? source : source.kind;
