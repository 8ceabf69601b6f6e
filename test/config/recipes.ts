import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { ConfigError, type ConfigIssue } from "../../lib/errors.ts";

export const minimal = (): RecipeInput => ({
  name: "minimal",
  model: { config: { width: 96, layers: 3, heads: 3, mlpWidth: 256 } },
  domains: { math: { weight: 1, source: "procedural/math" } },
  rollouts: { maxOutputTokens: 80, maxPromptTokens: 48 },
  lengthPenalty: { bufferTokens: 64 },
  training: { steps: 10, groupsPerStep: 32 },
});

export function issuesOf(input: unknown): readonly ConfigIssue[] {
  try {
    defineRecipe(input as RecipeInput);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  return [];
}

/** Copies the recipe and sets new values at dotted paths. */
export function changed(changes: Readonly<Record<string, unknown>>): unknown {
  const copy = structuredClone(minimal()) as unknown as Record<string, unknown>;
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split(".");
    let at = copy;
    for (const key of keys.slice(0, -1)) {
      at[key] ??= {};
      at = at[key] as Record<string, unknown>;
    }
    at[keys.at(-1)!] = value;
  }
  return copy;
}
