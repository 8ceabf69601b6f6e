import { ConfigError, type ConfigIssue } from "../errors.ts";
import { knownKeys } from "./issues.ts";
import { nearest } from "./nearest.ts";
import { isReserved, RESERVED_NAME } from "./plain-data.ts";
import { defineRecipe, recipeInput } from "./recipe.ts";
import type { Recipe, RecipeInput } from "./schema.ts";

/**
 * A recipe with `a.b=value` assignments applied to what its author wrote, then checked again. Values are JSON
 * where they parse as such and text otherwise. Throws ConfigError.
 */
export function overrideRecipe(recipe: Recipe, assignments: readonly string[]): Recipe {
  const input = recipeInput(recipe);
  const issues = assignments.flatMap((assignment) => assign(input, assignment) ?? []);
  if (issues.length === 0) return defineRecipe(input, "--set");
  throw new ConfigError("--set", [...issues, ...issuesOf(input)]);
}

/** Issues of the assignments whose paths exist, so that one mistake does not hide another. */
function issuesOf(input: RecipeInput): readonly ConfigIssue[] {
  try {
    defineRecipe(input, "--set");
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}

/** Mutually exclusive fields: assigning one removes the other. */
const INSTEAD_OF: Readonly<Record<string, string>> = { "model.folder": "config", "model.config": "folder" };

/** Makes one assignment; returns its issue instead of throwing, so that the issues of all assignments are reported at once. */
function assign(input: RecipeInput, assignment: string): ConfigIssue | undefined {
  const equals = assignment.indexOf("=");
  const path = assignment.slice(0, Math.max(equals, 0)).split(".");
  if (equals <= 0 || path.some((part) => part === ""))
    return { path: assignment, message: "expected path=value, e.g. optimizer.lr=2e-4" };
  const reserved = path.find(isReserved);
  if (reserved !== undefined) return { path: assignment, message: `${reserved} ${RESERVED_NAME}` };
  const parent = descend(input as Record<string, unknown>, path.slice(0, -1));
  if ("message" in parent) return { path: assignment, ...parent };
  parent.section[path.at(-1)!] = literal(assignment.slice(equals + 1));
  const replaced = INSTEAD_OF[path.join(".")];
  if (replaced !== undefined) delete parent.section[replaced];
  return undefined;
}

/** The object at a path, created if the recipe left out a known section; or the reason why there is none. */
function descend(
  root: Record<string, unknown>,
  path: readonly string[],
): { readonly section: Record<string, unknown> } | Omit<ConfigIssue, "path"> {
  let at = root;
  for (const [depth, key] of path.entries()) {
    const known = knownKeys(path.slice(0, depth));
    if (!Object.hasOwn(at, key) && !known.includes(key)) {
      const suggestion = nearest(key, [...known, ...Object.keys(at)]);
      const message = `there is no ${path.slice(0, depth + 1).join(".")}`;
      return { message, ...(suggestion && { suggestion }) };
    }
    at[key] ??= {};
    const next = at[key];
    if (typeof next !== "object" || next === null)
      return { message: `${key} is ${JSON.stringify(next)}, not a section` };
    at = next as Record<string, unknown>;
  }
  return { section: at };
}

function literal(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
