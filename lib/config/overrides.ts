import { ConfigError } from "../errors.ts";
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
  for (const assignment of assignments) assign(input, assignment);
  return defineRecipe(input, "--set");
}

function assign(input: RecipeInput, assignment: string): void {
  const equals = assignment.indexOf("=");
  const path = assignment.slice(0, Math.max(equals, 0)).split(".");
  if (equals <= 0 || path.some((part) => part === "")) {
    throw new ConfigError("--set", [
      { path: assignment, message: "expected path=value, e.g. optimizer.lr=2e-4" },
    ]);
  }
  const reserved = path.find(isReserved);
  if (reserved !== undefined)
    throw new ConfigError("--set", [{ path: assignment, message: `${reserved} ${RESERVED_NAME}` }]);
  const parent = descend(input as Record<string, unknown>, path.slice(0, -1), assignment);
  parent[path.at(-1)!] = literal(assignment.slice(equals + 1));
}

/** The object at a path, made where the recipe left a known section out. */
function descend(
  root: Record<string, unknown>,
  path: readonly string[],
  assignment: string,
): Record<string, unknown> {
  let at = root;
  for (const [depth, key] of path.entries()) {
    const known = knownKeys(path.slice(0, depth));
    if (!Object.hasOwn(at, key) && !known.includes(key)) {
      const suggestion = nearest(key, [...known, ...Object.keys(at)]);
      const message = `there is no ${path.slice(0, depth + 1).join(".")}`;
      throw new ConfigError("--set", [{ path: assignment, message, ...(suggestion && { suggestion }) }]);
    }
    at[key] ??= {};
    const next = at[key];
    if (typeof next !== "object" || next === null) {
      throw new ConfigError("--set", [
        { path: assignment, message: `${key} is ${JSON.stringify(next)}, not a section` },
      ]);
    }
    at = next as Record<string, unknown>;
  }
  return at;
}

function literal(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
