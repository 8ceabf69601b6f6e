/** Recipes: what a run does, checked before anything starts. */
export { arithmeticOf, storageOf } from "./arithmetic.ts";
export { expectTrustedRecipes, type RecipeUse, recipeDemands } from "./demands.ts";
export { environmentOf, inPythonFile, type PythonWritten } from "./environment.ts";
export { evaluates } from "./evaluation.ts";
export { recipeJsonSchema } from "./issues.ts";
export { leftAtDefault } from "./left-at-default.ts";
export { loraOptions } from "./lora.ts";
export type { ModelSizes } from "./model-sizes.ts";
export { hasFullKl, looksAtGaps } from "./objective.ts";
export { defaultRate } from "./optimizer.ts";
export { optimizerMemory } from "./optimizer-memory.ts";
export { overrideRecipe } from "./overrides.ts";
export { pythonSettings } from "./python.ts";
export { definedRecipe, defineRecipe, recipeInput, rewardFunctions } from "./recipe.ts";
export { recipeWarnings } from "./recipe-warnings.ts";
export { recordedLast } from "./recorded-rollouts.ts";
export { type RewardChoice, readsColumns, readsReference } from "./reward.ts";
export { expectRoles, isForAgents, processCount, type Roles, rolesOf, verifierWorkers } from "./roles.ts";
export { adoptRowMaps } from "./row-maps.ts";
export {
  evaluationContext,
  maxContext,
  type Recipe,
  type RecipeInput,
  type WarmStartConfig,
} from "./schema.ts";
export { shardingOf } from "./sharding.ts";
export { adoptSlopes, slopesFunction } from "./slopes.ts";
export type { TrackerConfig } from "./trackers.ts";
