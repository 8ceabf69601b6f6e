import {
  arithmeticOf,
  expectTrustedRecipes,
  overrideRecipe,
  type Recipe,
  storageOf,
} from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import type { Play } from "../../episodes/index.ts";
import type { EngineHandlers, TrainerFace } from "../../native/face.ts";
import { Generations } from "../../native/generations.ts";
import type { MemoryPlan } from "../../plan/index.ts";
import type { DomainName } from "../../records.ts";
import { VerifierPool } from "../../rewards/index.ts";
import type { Arithmetic } from "../../shared/models/weight-types.ts";
import { moduleUrl } from "../../user-module.ts";
import { admissionOf } from "./admission.ts";
import { type Core, engineOptions, trainerOptions } from "./core.ts";
import { besideEpisodes, playsOf, type Verifiers } from "./episodes.ts";
import { type Model, openModel } from "./model.ts";
import { type HeldOut, type HubCommits, openProblems, type ValidationSet } from "./problems.ts";
import { expectMemory } from "./readiness.ts";
import { rewardPlans } from "./rewards.ts";
import { expectSentReference } from "./sent-distributions.ts";
import { openTeacher, type Teacher } from "./teacher.ts";

/** Resources of a run, from the recipe and its model: one trainer, one engine, one verifier pool. */
export interface RunResources extends AsyncDisposable {
  readonly core: Core;
  /** The recipe, including values derived from the model, model.weightStorage and rollouts.maskPadding. */
  readonly recipe: Recipe;
  /** Changes that the run makes by itself to fit this machine's memory (`chosen`). */
  readonly memory: Pick<MemoryPlan, "chosen">;
  /** The recipe with the changes of `memory`, which affect memory and time, but no computed number. */
  readonly placed: Recipe;
  /** When the run began; chat templates take it as the current time. */
  readonly clock: Date;
  readonly model: Model;
  /** Undefined for a recipe without a teacher. */
  readonly teacher: Teacher | undefined;
  /** Arithmetic of the layers' products. */
  readonly arithmetic: Arithmetic;
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  /** Validation sets by name. */
  readonly sets: ReadonlyMap<string, ValidationSet>;
  readonly verifiers: Verifiers;
  /** Environments and limits of the domains and validation sets that are played in several turns. */
  readonly plays: ReadonlyMap<DomainName, Play>;
  readonly trainer: TrainerFace;
  readonly generations: Generations;
  /** Opens one more engine, sized for the contexts of evaluation. */
  openGenerations(): Generations;
  /** Opens another trainer of the same kind; `whole`: without adapters. */
  openTrainer(whole?: boolean): TrainerFace;
}

/** State of the run that a resumed session takes from the run folder. */
export interface Begun {
  readonly clock?: Date;
  readonly heldOut?: HeldOut | undefined;
  readonly commits?: HubCommits | undefined;
  readonly arithmetic?: Arithmetic | undefined;
  readonly weightStorage?: Recipe["model"]["weightStorage"];
  readonly maskPadding?: boolean | undefined;
}

/**
 * Throws the errors of model, data and core: HONE_ERR_CONFIG, HONE_ERR_OUT_OF_MEMORY, HONE_ERR_NATIVE_LOAD, ...
 * @param shared verifiers that the caller owns and closes; default: a new pool
 * @param begun recorded values that override the recipe: the templates' current time, held-out problems, number types
 */
export async function openResources(
  given: Recipe,
  core: Core,
  shared?: Verifiers,
  { clock = new Date(), heldOut, commits, ...kept }: Begun = {},
): Promise<RunResources> {
  const model = await openModel(given, clock);
  const recipe = withChoices(given, {
    "model.weightStorage": kept.weightStorage ?? storageOf(given, model.config),
    "rollouts.maskPadding": kept.maskPadding ?? true,
  });
  const { arithmetic = arithmeticOf(recipe, core.info().isa) } = kept;
  const teacher = await openTeacher(recipe, model);
  expectSentReference(recipe, model.config);
  const memory = expectMemory(recipe, { config: model.config, teacher: teacher?.config }, core.info());
  const placed = memory.chosen?.recipe ?? recipe;
  const admit = admissionOf(recipe, model.format);
  const { sources, sets } = await openProblems(recipe, { admit, prompts: model.prompts, heldOut, commits });
  const openEngine = (use: "training" | "evaluation") => (handlers: EngineHandlers) =>
    core.engine(
      model.config,
      engineOptions(recipe, arithmetic, () => model.tokenizer.tokenBytes(), use),
      handlers,
    );
  const openTrainer = (whole = false) =>
    core.trainer(model.config, trainerOptions(placed, arithmetic, whole));
  const trainer = openTrainer();
  const generations = new Generations(openEngine("training"));
  const own = shared === undefined ? openVerifiers(recipe, core) : undefined;
  const plays = playsOf(recipe);
  const judges = shared ?? own!;
  const verifiers = plays.size === 0 ? judges : besideEpisodes(judges);
  return {
    core,
    recipe,
    memory,
    placed,
    clock,
    model,
    teacher,
    arithmetic,
    sources,
    sets,
    verifiers,
    plays,
    trainer,
    generations,
    openTrainer,
    openGenerations: () => new Generations(openEngine("evaluation")),
    async [Symbol.asyncDispose]() {
      await Promise.all([generations.close(), own?.abandon()]);
      plays[Symbol.dispose]();
      await trainer.close();
    },
  };
}

interface Choices {
  readonly "model.weightStorage": ReturnType<typeof storageOf>;
  readonly "rollouts.maskPadding": boolean;
}

/** The recipe with the values of `choices` for fields that it does not set. */
function withChoices(recipe: Recipe, choices: Choices): Recipe {
  const { model, rollouts } = recipe;
  const said = {
    "model.weightStorage": model.weightStorage,
    "rollouts.maskPadding": rollouts.maskPadding,
  };
  const open = Object.entries(choices).filter(([path]) => said[path as keyof Choices] === undefined);
  return open.length === 0
    ? recipe
    : overrideRecipe(
        recipe,
        open.map(([path, value]) => `${path}=${value}`),
      );
}

/**
 * Throws HONE_ERR_TRUST for a recipe of a folder that names modules or judges which the user has not allowed.
 * @param core its verifier hosts judge, if it has any; default: workers of this machine
 */
export function openVerifiers(recipe: Recipe, core?: Pick<Core, "verifierHosts">): VerifierPool {
  expectTrustedRecipes([recipe], ["verifiers"]);
  const { workers, timeoutMs, modules, env } = recipe.verification;
  const place = core?.verifierHosts?.(workers);
  return new VerifierPool({
    workers,
    ...(place && { place }),
    modules: Object.fromEntries(Object.entries(modules).map(([name, place]) => [name, moduleUrl(place)])),
    variables: env,
    timeoutMs,
    rewards: rewardPlans(recipe),
  });
}
