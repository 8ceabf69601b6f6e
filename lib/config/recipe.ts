import { defaultDevice } from "../device.ts";
import { ConfigError } from "../errors.ts";
import { keepOrigin } from "../trust.ts";
import { crossCheck } from "./cross-checks.ts";
import { hashedWeights } from "./curriculum.ts";
import { keepEnvironments, putEnvironments, takeEnvironments } from "./environment.ts";
import { issuesOf, withoutIssues } from "./issues.ts";
import { defaultRate, warmed } from "./optimizer.ts";
import { expectPlainData } from "./plain-data.ts";
import { putRewardFunctions, type RewardFunctions, takeRewardFunctions } from "./reward-functions.ts";
import { keepRowMaps, putRowMaps, takeRowMaps } from "./row-maps.ts";
import { maxContext, type ParsedRecipe, type Recipe, type RecipeInput, recipeSchema } from "./schema.ts";
import { isBatchwide } from "./shaping.ts";
import { keepSlopes, slopesFunction, takeSlopes } from "./slopes.ts";

const INPUT = Symbol.for("hone.recipe.input");
const FUNCTIONS = Symbol.for("hone.recipe.rewards");

/**
 * Checks a recipe and fills in its defaults. The result is plain JSON and itself a valid recipe; reward functions
 * (rewardFunctions) and a custom objective's (slopesFunction) are attached to it, and in the JSON are names and
 * hashes. Throws ConfigError with every issue at once: path, value found, rule, nearest known name.
 * @param where name of the recipe for the error, usually its file
 */
export function defineRecipe(given: RecipeInput, where = "recipe"): Recipe {
  const { plain: unplayed, environments } = takeEnvironments(given);
  const { plain: unrewarded, functions } = takeRewardFunctions(unplayed);
  const { plain: unmapped, maps } = takeRowMaps(hashedWeights(unrewarded));
  const { plain, slopes } = takeSlopes(unmapped);
  const input = plain as RecipeInput;
  expectPlainData(input, where);
  const parsed = recipeSchema.safeParse(input, { reportInput: true });
  if (!parsed.success) {
    const issues = issuesOf(parsed.error, input);
    const repaired = recipeSchema.safeParse(withoutIssues(input, parsed.error));
    const broken = issues.map((issue) => issue.path);
    const more = repaired.success ? crossCheck(resolve(repaired.data), broken) : [];
    throw new ConfigError(where, [...issues, ...more]);
  }
  const recipe = resolve(parsed.data);
  const issues = crossCheck(recipe);
  if (issues.length > 0) throw new ConfigError(where, issues);
  keepSlopes(recipe.objective.slopes, slopes);
  keepEnvironments(recipe, environments);
  keepRowMaps(recipe, maps);
  Object.defineProperty(recipe, INPUT, { value: structuredClone(input) });
  Object.defineProperty(recipe, FUNCTIONS, { value: functions });
  return keepOrigin(recipe, given);
}

/**
 * Returns a recipe made by `defineRecipe` unchanged and passes any other through `defineRecipe`: plain JavaScript
 * checks no types.
 */
export function definedRecipe(recipe: unknown, where: string): Recipe {
  const defined = typeof recipe === "object" && recipe !== null && Object.hasOwn(recipe, INPUT);
  return defined ? (recipe as Recipe) : defineRecipe(recipe as RecipeInput, where);
}

/** Input of `defineRecipe`, before defaults: overrides apply to this, so that derived defaults follow them. */
export function recipeInput(recipe: Recipe): RecipeInput {
  const kept = (recipe as { [INPUT]?: RecipeInput })[INPUT];
  const plain = keepOrigin(structuredClone(kept ?? (recipe as RecipeInput)), recipe);
  const slopes = slopesFunction(recipe.objective);
  const input = slopes === undefined ? plain : { ...plain, objective: { ...plain.objective, slopes } };
  const played = putEnvironments(putRowMaps(input, recipe), recipe);
  return putRewardFunctions(played, rewardFunctions(recipe));
}

/** The reward functions that a recipe was defined with; none of a recipe that was read from a file of JSON. */
export function rewardFunctions(recipe: Recipe): RewardFunctions {
  return (recipe as { [FUNCTIONS]?: RewardFunctions })[FUNCTIONS] ?? new Map();
}

function resolve(parsed: ParsedRecipe): Recipe {
  const { warmStart, ...rest } = parsed;
  const { training, engine, model, optimizer, advantages } = rest;
  const maxLag = training.schedule === "sync" ? 0 : training.maxLag;
  // One page more than the context: attempts copy the prompt's last page, which others may still share.
  const pagesPerContext = Math.ceil(maxContext(parsed) / engine.pageTokens) + 1;
  return {
    ...rest,
    device: parsed.device ?? (namesGpus(parsed) ? "cuda" : defaultDevice()),
    model: resolveModel(model),
    tokenizer: parsed.tokenizer ?? (model.folder === undefined ? "lexicon/quickstart" : "model"),
    optimizer: warmed({ ...optimizer, lr: optimizer.lr ?? defaultRate(parsed) }, training.steps),
    ...(warmStart && { warmStart: warmed(warmStart, warmStart.steps) }),
    training: { ...training, maxLag, credits: training.credits ?? training.groupsPerStep * (maxLag + 1) },
    engine: { ...engine, pages: engine.pages ?? engine.maxRunning * pagesPerContext },
    advantages: { ...advantages, filter: advantages.filter ?? defaultFilter(parsed) },
  };
}

/**
 * Default filter: with a teacher, or a batch-wide baseline, a group of equal scores still has a learning
 * signal.
 */
function defaultFilter({ teacher, advantages: { baseline } }: ParsedRecipe): Recipe["advantages"]["filter"] {
  return teacher === undefined && !isBatchwide(baseline) ? "score" : "none";
}

/** True if `hardware` names GPUs; `recompute` and `optimizerMemory` alone apply to any device. */
function namesGpus({ hardware }: ParsedRecipe): boolean {
  const { gpu, gpuMemoryGiB, gpus = 1 } = hardware ?? {};
  return gpu !== undefined || gpuMemoryGiB !== undefined || gpus > 1;
}

/**
 * Fills in the derived sizes of a new model. The cross checks report a recipe without exactly one of folder
 * and config.
 */
function resolveModel({ config, ...model }: ParsedRecipe["model"]): Recipe["model"] {
  if (config === undefined) return model as Recipe["model"];
  const { kvHeads = config.heads, headDim = config.width / config.heads } = config;
  return { ...model, config: { ...config, kvHeads, headDim } } as Recipe["model"];
}
