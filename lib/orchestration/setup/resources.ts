import { loraOptions, type Recipe } from "../../config/index.ts";
import type { Admission, ProblemSource } from "../../data/index.ts";
import { judgedBy, openProblemSource } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import type { EngineHandlers, TrainerFace } from "../../native/face.ts";
import { Generations } from "../../native/generations.ts";
import type { DomainName } from "../../records.ts";
import { VerifierPool } from "../../rewards/index.ts";
import { admissionOf } from "./admission.ts";
import { type Core, engineOptions, rlOptimizer } from "./core.ts";
import { type Model, openModel } from "./model.ts";
import { expectRoom } from "./readiness.ts";

/** The part of a verifier pool that a run uses. */
export type Verifiers = Pick<VerifierPool, "verify" | "stats">;

/** What a run works with, from the recipe and its model; one trainer, one engine, one verifier pool. */
export interface RunResources extends AsyncDisposable {
  readonly core: Core;
  readonly recipe: Recipe;
  /** What chat templates take for now: when the run began. */
  readonly clock: Date;
  readonly model: Model;
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  readonly verifiers: Verifiers;
  readonly trainer: TrainerFace;
  readonly generations: Generations;
  /** One more engine of the same make. */
  openGenerations(): Generations;
  /** One more trainer of the same make; `whole`: without adapters. */
  openTrainer(whole?: boolean): TrainerFace;
}

/**
 * Throws what model, data and core say to the recipe: HONE_ERR_CONFIG, HONE_ERR_OUT_OF_MEMORY, HONE_ERR_NATIVE_LOAD, ...
 * @param shared verifiers of somebody else, who closes them; default: a pool of its own.
 * @param clock what chat templates take for now
 */
export async function openResources(
  recipe: Recipe,
  core: Core,
  shared?: Verifiers,
  clock = new Date(),
): Promise<RunResources> {
  const model = await openModel(recipe, clock);
  expectRoom(recipe, model.config, core.info());
  const sources = await openSources(recipe, admissionOf(recipe, model.format));
  const openEngine = (handlers: EngineHandlers) =>
    core.engine(
      model.config,
      engineOptions(recipe, () => model.tokenizer.tokenBytes()),
      handlers,
    );
  const openTrainer = (whole = false) =>
    core.trainer(model.config, {
      ...(whole ? {} : loraOptions(recipe)),
      optimizer: rlOptimizer(recipe),
      packedTokens: recipe.training.packedTokens,
      weightStorage: recipe.model.weightStorage,
      device: recipe.device,
      deterministic: recipe.deterministic,
      recompute: recipe.hardware?.recompute ?? false,
    });
  const trainer = openTrainer();
  const generations = new Generations(openEngine);
  const own = shared === undefined ? openVerifiers(recipe) : undefined;
  const verifiers = shared ?? own!;
  return {
    core,
    recipe,
    clock,
    model,
    sources,
    verifiers,
    trainer,
    generations,
    openTrainer,
    openGenerations: () => new Generations(openEngine),
    async [Symbol.asyncDispose]() {
      await Promise.all([generations.close(), own?.abandon()]);
      await trainer.close();
    },
  };
}

/**
 * Every domain's problems, in the recipe's order. Throws HONE_ERR_CONFIG or HONE_ERR_DATA.
 * @param admit asked for every row of a data set; what it refuses is left out and counted in the source's report.
 */
export async function openSources(
  { domains, seed }: Recipe,
  admit?: Admission,
): Promise<Map<DomainName, ProblemSource>> {
  const sources = new Map<DomainName, ProblemSource>();
  for (const [ordinal, [domain, { source, verifier }]] of Object.entries(domains).entries()) {
    const opened = await openProblemSource(source, { seed, ordinal, domain }, admit);
    if (opened.domain !== domain) {
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `domains.${domain}.source is ${typeof source === "string" ? source : source.kind}, whose domain is ${opened.domain}`,
      );
    }
    sources.set(domain, verifier === undefined ? opened : judgedBy(opened, verifier.compat));
  }
  return sources;
}

export function openVerifiers({ verification: { workers, timeoutMs, modules } }: Recipe): VerifierPool {
  return new VerifierPool({ workers, modules, timeoutMs });
}
