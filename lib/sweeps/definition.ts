import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { Cell } from "./cells.ts";
import type { Axis } from "./grid.ts";

/** Cells of a sweep that belong together in a paper: a table of their own, and figures. */
export interface Study {
  readonly title: string;
  /** Describes in one or two sentences what the study compares. */
  readonly caption: string;
  /** Name in this study -> name of the cell; a cell may be in several. */
  readonly arms: Readonly<Record<string, string>>;
  /**
   * An arm with which the other arms' lengths are compared, by how often the initial weights solved the
   * problem, on right and on wrong answers separately.
   */
  readonly lengthsAgainst?: string;
  /** Shares of the domains over time against their targets: of completed and of trained rollouts. */
  readonly mixture?: boolean;
}

/** Export of a sweep file: a recipe, and its variations. */
export interface SweepDefinition {
  readonly name: string;
  readonly recipe: Recipe;
  /** Number of seeds, from the recipe's upwards. */
  readonly seeds?: number;
  /** Named axes, each with named choices: lists of assignments `a.b=value`. The cells are their product. */
  readonly axes?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** Explicit cells instead of axes: name -> assignments. The others are compared with the first. */
  readonly cells?: Readonly<Record<string, readonly string[]>>;
  readonly studies?: readonly Study[];
}

const BRAND = Symbol.for("hone.sweep");

/** Marks what a sweep file exports, and checks it. Throws HONE_ERR_USAGE. */
export function defineSweep(definition: SweepDefinition): SweepDefinition {
  const { name, axes, cells, studies = [] } = definition;
  const wrong = (what: string) => new HoneError("HONE_ERR_USAGE", `sweep ${name}: ${what}`);
  if ((axes === undefined) === (cells === undefined)) throw wrong("it has either axes or cells");
  for (const { title, arms, lengthsAgainst } of studies) {
    for (const cell of Object.values(arms)) {
      if (!Object.hasOwn(cells ?? {}, cell)) throw wrong(`the study "${title}" names no cell: ${cell}`);
    }
    if (lengthsAgainst !== undefined && !Object.hasOwn(arms, lengthsAgainst))
      throw wrong(`the study "${title}" has no arm ${lengthsAgainst}`);
  }
  const marked = { ...definition };
  Object.defineProperty(marked, BRAND, { value: true });
  return marked;
}

export function isSweepDefinition(value: unknown): value is SweepDefinition {
  return typeof value === "object" && value !== null && BRAND in value;
}

/**
 * Returns the sweep's axes. @param only names of the axes to vary; the others keep the recipe's values.
 * Throws HONE_ERR_USAGE.
 */
export function axesOf({ name, axes = {} }: SweepDefinition, only?: readonly string[]): Axis[] {
  for (const wanted of only ?? []) {
    if (Object.hasOwn(axes, wanted)) continue;
    const known = Object.keys(axes).join(", ");
    throw new HoneError("HONE_ERR_USAGE", `sweep ${name} has no axis ${wanted}`, {
      hint: known === "" ? "This sweep lists its cells and has no axes." : `Its axes: ${known}.`,
    });
  }
  return Object.entries(axes)
    .filter(([axis]) => only === undefined || only.includes(axis))
    .map(([axis, choices]) => ({
      name: axis,
      choices: Object.entries(choices).map(([label, settings]) => ({ label, settings })),
    }));
}

export const cellsOf = ({ cells = {} }: SweepDefinition): Cell[] =>
  Object.entries(cells).map(([name, settings]) => ({ name, settings }));
