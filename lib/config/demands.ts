import { pathToFileURL } from "node:url";
import { type Asking, type Demand, expectTrusted } from "../trust.ts";
import { isModulePlace, moduleUrl, pythonPlace, sourceUrl } from "../user-module.ts";
import { inPythonFile } from "./environment.ts";
import { pythonSettings } from "./python.ts";
import type { RewardChoice } from "./reward.ts";
import type { Recipe } from "./schema.ts";

/**
 * Why a command opens parts of a recipe: to read problems, to choose among them, to judge completions, to play
 * episodes, or to train by its objective.
 */
export type RecipeUse = "problems" | "curriculum" | "verifiers" | "environments" | "objective";

type Judged = Pick<Recipe["domains"][string], "source" | "reward" | "rewards" | "environment"> & {
  readonly curriculum?: Recipe["domains"][string]["curriculum"];
};

/** Modules and servers that opening these parts of a recipe would run or contact. */
export function recipeDemands(recipe: Recipe, uses: readonly RecipeUse[]): Demand[] {
  const judged: [string, Judged][] = [
    ...Object.entries(recipe.domains).map(([name, one]): [string, Judged] => [`domains.${name}`, one]),
    ...Object.entries(recipe.evaluation.sets).map(([name, one]): [string, Judged] => [
      `evaluation.sets.${name}`,
      one,
    ]),
  ];
  return uses.flatMap((use) => {
    if (use === "curriculum") return judged.flatMap(([field, one]) => weightDemands(field, one));
    if (use === "problems") return judged.flatMap(([field, one]) => sourceDemands(field, one));
    if (use === "objective") return objectiveDemands(recipe);
    if (use === "environments") {
      const played = judged.flatMap(([field, one]) => environmentDemands(field, one));
      return [...played, ...pythonDemands(recipe, played)];
    }
    const rewards = judged.flatMap(([field, one]) => rewardDemands(field, one));
    return [...moduleDemands(recipe), ...rewards, ...pythonDemands(recipe, rewards)];
  });
}

const module = (field: string, url: string, sha256?: string): Demand => ({
  field,
  kind: "module",
  url: url.split("#", 1)[0]!,
  ...(sha256 !== undefined && { sha256 }),
});

function sourceDemands(field: string, { source }: Judged): Demand[] {
  if (typeof source !== "string") {
    const { map } = source;
    const isModule = typeof map === "object" && "module" in map;
    return isModule ? [module(`${field}.source.map`, moduleUrl(map.module), map.sha256)] : [];
  }
  return isModulePlace(source) ? [module(`${field}.source`, sourceUrl(source))] : [];
}

function weightDemands(field: string, { curriculum }: Judged): Demand[] {
  const { weight } = curriculum ?? {};
  return weight === undefined
    ? []
    : [module(`${field}.curriculum.weight`, moduleUrl(weight.module), weight.sha256)];
}

function objectiveDemands({ objective: { slopes } }: Recipe): Demand[] {
  return slopes !== undefined && "module" in slopes
    ? [module("objective.slopes", moduleUrl(slopes.module), slopes.sha256)]
    : [];
}

function moduleDemands({ verification: { modules, env } }: Recipe): Demand[] {
  const variables: Demand[] =
    env.length === 0 ? [] : [{ field: "verification.env", kind: "variables", names: env }];
  return variables.concat(
    Object.entries(modules).map(([name, place]) => module(`verification.modules.${name}`, moduleUrl(place))),
  );
}

function rewardDemands(field: string, { reward, rewards = {} }: Judged): Demand[] {
  const choices: (readonly [string, RewardChoice | undefined])[] = [
    [`${field}.reward`, reward],
    ...Object.entries(rewards).map(
      ([name, part]) => [`${field}.rewards.${name}.reward`, part.reward] as const,
    ),
  ];
  return choices.flatMap(([at, choice]) => (choice === undefined ? [] : choiceDemands(at, choice)));
}

/** Demands for the command that starts Python, since the record names this command as well as the Python file. */
function pythonDemands(recipe: Recipe, demands: readonly Demand[]): Demand[] {
  if (!demands.some(({ field }) => field.endsWith(".python"))) return [];
  const { bin: command, env: names } = pythonSettings(recipe);
  const variables: Demand[] = names.length === 0 ? [] : [{ field: "python.env", kind: "variables", names }];
  return [{ field: "python.bin", kind: "program", command }, ...variables];
}

function environmentDemands(field: string, { environment }: Judged): Demand[] {
  if (environment === undefined || !inPythonFile(environment)) return [];
  return [pythonDemand(`${field}.environment.python`, environment)];
}

function pythonDemand(
  field: string,
  { python, sha256 }: { python: string; sha256?: string | undefined },
): Demand {
  return { field, kind: "module", url: pathToFileURL(pythonPlace(python).file).href, sha256 };
}

function choiceDemands(field: string, choice: RewardChoice): Demand[] {
  if (choice === "verifier") return [];
  if (typeof choice === "string") return [module(field, moduleUrl(choice))];
  if ("python" in choice) return [pythonDemand(`${field}.python`, choice)];
  if (!("judge" in choice)) return [];
  const { url, apiKeyEnv: keyEnv, cache } = choice.judge;
  const key = keyEnv !== undefined && { keyEnv };
  return [
    { field: `${field}.judge`, kind: "server", url, ...key },
    ...(cache === false ? [] : [{ field: `${field}.judge.cache`, kind: "file" as const, path: cache }]),
  ];
}

/**
 * Throws HONE_ERR_TRUST if recipes read from a folder would make the command execute something that the user has not
 * allowed. A recipe that the user wrote may name anything.
 */
export function expectTrustedRecipes(recipes: readonly Recipe[], uses: readonly RecipeUse[]): void {
  expectTrusted(
    recipes.map((recipe): Asking => ({ record: recipe, demands: () => recipeDemands(recipe, uses) })),
  );
}
