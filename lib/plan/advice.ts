import { maxContext, overrideRecipe, type Recipe } from "../config/index.ts";
import { ConfigError } from "../errors.ts";
import { CHANGES, type Change, FEWEST_PAGES, PAGES } from "./changes.ts";
import { fits, type Measured, mostOf } from "./measured.ts";

/** A set of changes that makes a recipe fit; without any one of them it would not. */
export interface Proposal {
  readonly changes: readonly (Pick<Change, "name" | "cost"> & { readonly assignments: readonly string[] })[];
  /** Bytes that the fullest device then needs. */
  readonly total: number;
  /** Tokens of keys and values that then fit. */
  readonly keyValueTokens: number;
}

export interface Advice {
  /** At most three proposals that make the recipe fit, cheapest first; empty if no combination of changes suffices. */
  readonly proposals: readonly Proposal[];
  /** The combination of changes that needs the least memory. */
  readonly least: Proposal;
}

type Measure = (recipe: Recipe) => Measured;
export type Applied = Proposal["changes"][number];

const MOST_PROPOSALS = 3;

/**
 * Tries every combination of changes in the order of their cost, one change costing more than all cheaper ones
 * together, and skips combinations that contain a sufficient one: so every change of a proposal is necessary.
 */
export function advise(recipe: Recipe, measure: Measure): Advice {
  const single = CHANGES.map(({ assignments }) => assignments(recipe) ?? []);
  const usable = (i: number) => single[i]!.length > 0 || i === PAGES || i === FEWEST_PAGES;
  const proposals: Proposal[] = [];
  const enough: number[] = [];
  let least: Proposal | undefined;
  for (let set = 0; set < 2 ** CHANGES.length && proposals.length < MOST_PROPOSALS; set++) {
    const members = [...CHANGES.keys()].filter((i) => has(set, i));
    if (!members.every(usable) || (has(set, PAGES) && has(set, FEWEST_PAGES))) continue;
    if (enough.some((smaller) => holds(set, smaller))) continue;
    const tried = attempt(recipe, measure, members, single);
    if (tried === undefined) continue;
    if (least === undefined || tried.proposal.total < least.total) least = tried.proposal;
    if (!tried.fits) continue;
    enough.push(set);
    proposals.push(tried.proposal);
  }
  return { proposals, least: least ?? proposalOf([], measure(recipe)) };
}

const has = (set: number, i: number) => ((set >> i) & 1) === 1;

/** True if the changes of `set` include those of `smaller` (the least number of pages includes "fewer pages"). */
function holds(set: number, smaller: number): boolean {
  const all = has(set, FEWEST_PAGES) ? set | (1 << PAGES) : set;
  return (all & smaller) === smaller;
}

/** Undefined for changes that do not yield a valid recipe. */
function attempt(
  recipe: Recipe,
  measure: Measure,
  members: readonly number[],
  single: readonly (readonly string[])[],
): { readonly proposal: Proposal; readonly fits: boolean } | undefined {
  try {
    const applied = members
      .filter((i) => single[i]!.length > 0)
      .map((i): Applied => ({ name: CHANGES[i]!.name, cost: CHANGES[i]!.cost, assignments: single[i]! }));
    const changed = apply(recipe, applied);
    const paged = members.find((i) => i === PAGES || i === FEWEST_PAGES);
    const pages = paged === undefined ? undefined : fewerPages(changed, measure(changed), paged);
    const all = pages === undefined ? applied : [...applied, pages];
    const found = measure(apply(changed, pages === undefined ? [] : [pages]));
    return { proposal: proposalOf(all, found), fits: fits(found) };
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function apply(recipe: Recipe, changes: readonly Applied[]): Recipe {
  if (changes.length === 0) return recipe;
  return overrideRecipe(
    recipe,
    changes.flatMap(({ assignments }) => assignments),
  );
}

/**
 * Sets engine.pages to as many pages as fit, but at least to what one longest context needs and, except for
 * FEWEST_PAGES, to a quarter of the requested number.
 */
function fewerPages(recipe: Recipe, { roles }: Measured, which: number): Applied {
  const { pages, pageTokens } = recipe.engine;
  const context = Math.ceil(maxContext(recipe) / pageTokens) + 1;
  const fewest = which === FEWEST_PAGES ? context : Math.max(context, Math.ceil(pages / 4));
  const { fit = 0 } = roles.map(({ keyValueTokens }) => keyValueTokens).find(({ asked }) => asked > 0) ?? {};
  const chosen = Math.min(pages, Math.max(fewest, Math.floor(fit / pageTokens)));
  const { name, cost } = CHANGES[which]!;
  return { name, cost, assignments: [`engine.pages=${chosen}`] };
}

function proposalOf(changes: readonly Applied[], measured: Measured): Proposal {
  const total = mostOf(measured);
  const { roles } = measured;
  const keyValueTokens = Math.max(...roles.map(({ keyValueTokens: { fit = 0 } }) => fit));
  return { changes, total, keyValueTokens };
}
