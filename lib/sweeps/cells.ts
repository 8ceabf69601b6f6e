import { createHash } from "node:crypto";
import { overrideRecipe, type Recipe, recipeInput } from "../config/index.ts";
import { ConfigError, type ConfigIssue, HoneError } from "../errors.ts";
import type { Axis } from "./grid.ts";

/** One point of a sweep: a recipe that runs with every seed. */
export interface Cell {
  /** Name in tables and legends; unique. */
  readonly name: string;
  readonly settings: readonly string[];
}

/** A cell to run: its recipe, and a folder name derived from the recipe. */
export interface PlannedCell extends Cell {
  readonly id: string;
  readonly recipe: Recipe;
}

/** Most cells of a grid; a larger grid is taken for a mistake. */
const MOST_CELLS = 4096;
const MOST_SLUG = 60;

/**
 * The product of the axes, the last one fastest; one cell named "base" if there are no axes. Throws HONE_ERR_USAGE
 * for a repeated axis, and for more than 4096 cells.
 */
export function productOf(axes: readonly Axis[]): Cell[] {
  const names = axes.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new HoneError("HONE_ERR_USAGE", `the axis ${twice} occurs twice`);
  const count = axes.reduce((n, { choices }) => n * choices.length, 1);
  if (count > MOST_CELLS)
    throw new HoneError("HONE_ERR_USAGE", `the grid has ${count} cells, more than ${MOST_CELLS}`);
  if (axes.length === 0) return [{ name: "base", settings: [] }];
  let cells: { parts: string[]; settings: string[] }[] = [{ parts: [], settings: [] }];
  for (const { name, choices } of axes) {
    cells = cells.flatMap(({ parts, settings }) =>
      choices.map((choice) => ({
        parts: [...parts, `${shortName(name)} ${choice.label}`],
        settings: [...settings, ...choice.settings],
      })),
    );
  }
  return cells.map(({ parts, settings }) => ({ name: parts.join(", "), settings }));
}

/** Shortens "lengthPenalty.kind" to two parts at most: "kind" alone would be ambiguous, "clipHigh" is not. */
const shortName = (path: string): string => path.split(".").slice(-2).join(".");

/**
 * Every cell with its recipe, each validated like `--set`. Throws ConfigError with the issues of all of them,
 * HONE_ERR_USAGE if two have the same name or recipe, HONE_ERR_UNSUPPORTED for an objective that is a function: the
 * processes that run cells receive recipes as JSON.
 */
export function planCells(base: Recipe, cells: readonly Cell[]): PlannedCell[] {
  const { slopes } = base.objective;
  if (slopes !== undefined && "function" in slopes) {
    const message = "objective.slopes is a function, which the processes of a sweep cannot be given";
    throw new HoneError("HONE_ERR_UNSUPPORTED", message, {
      hint: `Export it from a module and name that: slopes: "./loss.ts#${slopes.function}".`,
    });
  }
  const issues: ConfigIssue[] = [];
  const planned = cells.flatMap((cell) => {
    try {
      const recipe = overrideRecipe(base, cell.settings);
      return [{ name: cell.name, settings: cell.settings, id: cellId(cell.name, recipe), recipe }];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      issues.push(...error.issues);
      return [];
    }
  });
  if (issues.length > 0) throw new ConfigError("the cells of the sweep", distinct(issues));
  expectDistinct(planned);
  return planned;
}

function distinct(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.path}: ${issue.message}`, issue])).values()];
}

function expectDistinct(cells: readonly PlannedCell[]): void {
  const names = new Map<string, string>();
  const recipes = new Map<string, string>();
  for (const { name, recipe } of cells) {
    const text = JSON.stringify(recipe);
    const same = names.get(name) ?? recipes.get(text);
    if (same !== undefined) {
      const what = same === name ? "have the same name" : "have the same recipe";
      throw new HoneError("HONE_ERR_USAGE", `the cells "${same}" and "${name}" ${what}`);
    }
    names.set(name, name);
    recipes.set(text, name);
  }
}

/** A readable prefix, and a hash of the recipe without its seed: another recipe never finds this one's runs. */
function cellId(name: string, recipe: Recipe): string {
  const slug = name
    .replaceAll(/[^\w.=-]+/g, "-")
    .slice(0, MOST_SLUG)
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return `${slug === "" ? "cell" : slug}-${hashOf({ ...recipeInput(recipe), seed: undefined })}`;
}

/** Eight hexadecimal digits. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 8);
}
