import { z } from "zod";
import { defaultDevice } from "../device.ts";
import { ConfigError, type ConfigIssue } from "../errors.ts";
import { crossCheck } from "./cross-checks.ts";
import { keepEnvironments, putEnvironments, takeEnvironments } from "./environment.ts";
import { nearest } from "./nearest.ts";
import { expectPlainData } from "./plain-data.ts";
import { putRewardFunctions, type RewardFunctions, takeRewardFunctions } from "./reward-functions.ts";
import { maxContext, type ParsedRecipe, type Recipe, type RecipeInput, recipeSchema } from "./schema.ts";
import { keepSlopes, slopesFunction, takeSlopes } from "./slopes.ts";

const INPUT = Symbol.for("hone.recipe.input");
const FUNCTIONS = Symbol.for("hone.recipe.rewards");

/**
 * Checks a recipe and fills in its defaults. The result is plain JSON and itself a valid recipe; reward functions
 * (rewardFunctions) and a custom objective's (slopesFunction) come along beside it, in the JSON by name and hash.
 * Throws ConfigError with every issue at once: path, value found, rule, nearest known name.
 * @param where what to call the recipe in the error, usually its file.
 */
export function defineRecipe(given: RecipeInput, where = "recipe"): Recipe {
  const { plain: unplayed, environments } = takeEnvironments(given);
  const { plain: unrewarded, functions } = takeRewardFunctions(unplayed);
  const { plain, slopes } = takeSlopes(unrewarded);
  const input = plain as RecipeInput;
  expectPlainData(input, where);
  const parsed = recipeSchema.safeParse(input, { reportInput: true });
  if (!parsed.success) {
    const found = parsed.error.issues.flatMap(unfold);
    const issues = found.flatMap((issue) => translate(issue, input));
    const repaired = recipeSchema.safeParse(without(input, found));
    const broken = issues.map((issue) => issue.path);
    const more = repaired.success ? crossCheck(resolve(repaired.data), broken) : [];
    throw new ConfigError(where, [...issues, ...more]);
  }
  const recipe = resolve(parsed.data);
  const issues = crossCheck(recipe);
  if (issues.length > 0) throw new ConfigError(where, issues);
  keepSlopes(recipe.objective.slopes, slopes);
  keepEnvironments(recipe, environments);
  Object.defineProperty(recipe, INPUT, { value: structuredClone(input) });
  Object.defineProperty(recipe, FUNCTIONS, { value: functions });
  return recipe;
}

/** The recipe itself if `defineRecipe` made it, otherwise `defineRecipe` of it: plain JavaScript checks no types. */
export function definedRecipe(recipe: unknown, where: string): Recipe {
  const defined = typeof recipe === "object" && recipe !== null && Object.hasOwn(recipe, INPUT);
  return defined ? (recipe as Recipe) : defineRecipe(recipe as RecipeInput, where);
}

/** What `defineRecipe` was given, before defaults: overrides apply to this, so that derived defaults follow them. */
export function recipeInput(recipe: Recipe): RecipeInput {
  const kept = (recipe as { [INPUT]?: RecipeInput })[INPUT];
  const plain = structuredClone(kept ?? (recipe as RecipeInput));
  const slopes = slopesFunction(recipe.objective);
  const input = slopes === undefined ? plain : { ...plain, objective: { ...plain.objective, slopes } };
  return putRewardFunctions(putEnvironments(input, recipe), rewardFunctions(recipe));
}

/** The reward functions that a recipe was defined with; none of a recipe that was read from a file of JSON. */
export function rewardFunctions(recipe: Recipe): RewardFunctions {
  return (recipe as { [FUNCTIONS]?: RewardFunctions })[FUNCTIONS] ?? new Map();
}

/** JSON Schema (draft 2020-12) of what a recipe may say, for editors. */
export function recipeJsonSchema(): unknown {
  return z.toJSONSchema(recipeSchema, { io: "input" });
}

function resolve(parsed: ParsedRecipe): Recipe {
  const { training, engine, model } = parsed;
  const maxLag = training.schedule === "sync" ? 0 : training.maxLag;
  // One more than the context: attempts copy the prompt's last page, which others may still share.
  const pagesPerContext = Math.ceil(maxContext(parsed) / engine.pageTokens) + 1;
  return {
    ...parsed,
    device: parsed.device ?? (namesGpus(parsed) ? "cuda" : defaultDevice()),
    model: resolveModel(model),
    tokenizer: parsed.tokenizer ?? (model.folder === undefined ? "lexicon/quickstart" : "model"),
    training: { ...training, maxLag, credits: training.credits ?? training.groupsPerStep * (maxLag + 1) },
    engine: { ...engine, pages: engine.pages ?? engine.maxRunning * pagesPerContext },
  };
}

/** `recompute` and `optimizerMemory` alone are for any device. */
function namesGpus({ hardware }: ParsedRecipe): boolean {
  const { gpu, gpuMemoryGiB, gpus = 1 } = hardware ?? {};
  return gpu !== undefined || gpuMemoryGiB !== undefined || gpus > 1;
}

/** The cross checks report a recipe without exactly one of folder and config. */
function resolveModel({ config, ...model }: ParsedRecipe["model"]): Recipe["model"] {
  if (config === undefined) return model as Recipe["model"];
  const { kvHeads = config.heads, headDim = config.width / config.heads } = config;
  return { ...model, config: { ...config, kvHeads, headDim } } as Recipe["model"];
}

/** The issues of that alternative of a union which the value was probably meant for: the one with its type, and its fields. */
function unfold(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const isOf = (issues: readonly z.core.$ZodIssue[], code: string) =>
    issues.some((inner) => inner.code === code && inner.path.length === 0);
  const ofItsType = issue.errors.filter((issues) => !isOf(issues, "invalid_type"));
  const meant = ofItsType.find((issues) => !isOf(issues, "unrecognized_keys")) ?? ofItsType[0];
  if (meant === undefined) return [issue];
  return meant.flatMap((inner) => unfold({ ...inner, path: [...issue.path, ...inner.path] }));
}

function translate(issue: z.core.$ZodIssue, input: unknown): ConfigIssue[] {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(issue.path);
    return issue.keys.map((key) =>
      withSuggestion(
        { path: [...issue.path, key].join("."), message: "is not a field of a recipe" },
        key,
        known,
      ),
    );
  }
  const value = valueAt(input, issue.path);
  const message = value === undefined ? "is required" : `is ${show(value)}; ${issue.message.toLowerCase()}`;
  const known =
    issue.code === "invalid_value" ? issue.values : "options" in issue ? issue.options : undefined;
  if (known !== undefined && typeof value === "string") {
    const now = RENAMED[path]?.[value];
    return [
      now === undefined
        ? withSuggestion({ path, message }, value, known.map(String))
        : { path, message, suggestion: now },
    ];
  }
  return [{ path, message }];
}

/** Values that earlier versions knew under another name, by field: CHANGELOG.md lists them. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "advantages.filter": { raw: "score", shaped: "reward" },
};

function withSuggestion(issue: ConfigIssue, name: string, known: readonly string[]): ConfigIssue {
  const suggestion = nearest(name, known);
  return suggestion === undefined ? issue : { ...issue, suggestion };
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

/** Made once: overrides ask for it at every step of a path. */
let schemaOfRecipes: SchemaNode | undefined;

/** Field names the schema knows at a path. */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  schemaOfRecipes ??= recipeJsonSchema() as SchemaNode;
  let nodes = alternatives(schemaOfRecipes);
  for (const key of path) {
    nodes = nodes.flatMap((node) => {
      const anyKey = typeof node.additionalProperties === "object" ? node.additionalProperties : node.items;
      const next = node.properties?.[String(key)] ?? anyKey;
      return next === undefined ? [] : alternatives(next);
    });
  }
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

function alternatives(node: SchemaNode): SchemaNode[] {
  return [node, ...[...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap(alternatives)];
}

/** A copy of the input without what the issues complain about, so that the remaining rules can be checked too. */
function without(input: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy = structuredClone(input);
  for (const issue of issues) {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : issue.path.slice(-1);
    const parent = valueAt(copy, issue.code === "unrecognized_keys" ? issue.path : issue.path.slice(0, -1));
    if (typeof parent !== "object" || parent === null) continue;
    for (const key of keys) delete (parent as Record<PropertyKey, unknown>)[key];
  }
  return copy;
}
