import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expectTrustedRecipes, hasFullKl, type Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { checkOrigin } from "../../inference/index.ts";
import { RUN_FILES, readRunManifest } from "../../metrics/index.ts";
import type { StepReport, TrainerFace } from "../../native/face.ts";
import type { Trust } from "../../trust.ts";
import { customSlopes, openSlopes, type TeachTokens, taughtStep, updatePolicy } from "../pipeline/index.ts";
import {
  hookAdvantages,
  noRecordOf,
  type RecordedGroup,
  type RecordedStep,
  readEvents,
  readHistory,
  readRolloutRecord,
  recordedRecipe,
  recordedSteps,
} from "../records/index.ts";
import { Checkpoints, ReferenceWeights, recordedArithmetic, recordedClock } from "../recovery/index.ts";
import { type Opened, openScores, Reference } from "../run/index.ts";
import {
  type Core,
  type Model,
  nativeCore,
  openModel,
  openTeacher,
  placedHere,
  trainerOptions,
} from "../setup/index.ts";
import { batchUpdates, expectRecorded, type Hooked, settleRecorded } from "./recorded-groups.ts";
import { noServer } from "./recorded-teacher.ts";

/** A recorded step, and a trainer that has the weights it started from. */
export interface BeforeStep extends AsyncDisposable {
  readonly step: RecordedStep;
  readonly groups: readonly RecordedGroup[];
  readonly hooked: Hooked;
  /** Recipe of the step. */
  readonly recipe: Recipe;
  readonly model: Model;
  readonly trainer: TrainerFace;
  /** Present if the recipe compares whole distributions with those of a teacher or the reference. */
  readonly teach: TeachTokens | undefined;
  /** The checkpoint from which the weights were restored, and how many steps were trained again after it. */
  readonly from: { readonly checkpoint: string; readonly trainedAgain: number };
}

/** A run's recipes by step, and the changes that its hooks made, both from its event log. */
interface Past {
  readonly recipes: ReadonlyMap<number, Recipe>;
  readonly hooked: Hooked;
}

type Step = Pick<BeforeStep, "step" | "groups">;

export interface BeforeStepOptions {
  readonly core?: Core;
  /** What the folder's record may make this process execute. Default: nothing. */
  readonly trust?: Trust | undefined;
  /** Throws for an unexpected step, before any weights are restored. */
  readonly expect?: (groups: readonly RecordedGroup[]) => void;
  /** Called with each step that is trained again on the way. */
  readonly onStep?: ((step: number) => void) | undefined;
}

/**
 * Restores the weights from which a recorded step started: loads the nearest earlier checkpoint and trains the
 * recorded steps after it again, comparing each with its recorded loss and gradient norm. Throws HONE_ERR_USAGE for a
 * step without record, HONE_ERR_CHECKPOINT if no checkpoint leads there, HONE_ERR_REPLAY naming the step that came
 * out differently, HONE_ERR_UNSUPPORTED for an objective that is a function of the entry script, HONE_ERR_CONFIG for
 * one whose module is not the run's, HONE_ERR_TRUST for a module that `trust` does not allow.
 */
export async function openBeforeStep(
  dir: string,
  step: number,
  options: BeforeStepOptions = {},
): Promise<BeforeStep> {
  const target = await readStep(dir, step);
  options.expect?.(target.groups);
  const route = routeTo(dir, step);
  const past = readPast(dir, options.trust);
  const recipes = [...route.again, step].flatMap((again) => past.recipes.get(again) ?? []);
  expectTrustedRecipes(recipes, ["objective"]);
  for (const recipe of recipes) await expectAskable(recipe);
  const way = new WayBack(dir, past, options.core ?? (await nativeCore()));
  try {
    await way.start(route.checkpoint, route.again[0] ?? step);
    for (const again of route.again) {
      await way.trainAgain(await readStep(dir, again));
      options.onStep?.(again);
    }
    const { trainer, model, recipe, teach } = await way.arrive(target.step);
    const from = { checkpoint: route.name, trainedAgain: route.again.length };
    const close = () => way.close();
    return {
      ...target,
      hooked: past.hooked,
      recipe,
      model,
      trainer,
      teach,
      from,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await way.close();
    throw error;
  }
}

/** Throws HONE_ERR_USAGE for a step that there is no record of. */
async function readStep(dir: string, number: number): Promise<Step> {
  const steps = recordedSteps(dir);
  if (!steps.includes(number)) throw noRecordOf(dir, number, steps, `step ${number}`);
  let step: RecordedStep | undefined;
  const groups: RecordedGroup[] = [];
  for await (const line of readRolloutRecord(dir, number)) {
    if ("schema" in line) step = line;
    else groups.push(line);
  }
  if (step !== undefined) return { step, groups };
  throw new HoneError("HONE_ERR_FORMAT", `the record of step ${number} in ${dir} is empty`);
}

interface Route {
  /** Undefined if the route starts at the initial weights. */
  readonly checkpoint: string | undefined;
  readonly name: string;
  /** Steps between the checkpoint and the requested step, to be trained again. */
  readonly again: readonly number[];
}

/**
 * The nearest earlier checkpoint, and the steps to train again after it. Throws HONE_ERR_CHECKPOINT if one of these
 * steps has no record.
 */
function routeTo(dir: string, step: number): Route {
  const checkpoints = new Checkpoints(dir);
  const numbers = checkpoints.list().map((path) => ({ path, after: Number(basename(path).slice(5)) }));
  const nearest = numbers.find(({ after }) => after < step);
  const after = nearest?.after ?? 0;
  const again = Array.from({ length: step - 1 - after }, (_, i) => after + 1 + i);
  const recorded = new Set(recordedSteps(dir));
  const missing = again.find((number) => !recorded.has(number));
  const name = nearest === undefined ? "the weights training started from" : basename(nearest.path);
  if (missing === undefined) return { checkpoint: nearest?.path, name, again };
  throw new HoneError(
    "HONE_ERR_CHECKPOINT",
    `no checkpoint in ${checkpoints.directory} leads to the weights before step ${step}: the nearest is ${name}, and step ${missing} after it has no record to train again`,
    {
      details: { step, missing },
      hint: "Keep more checkpoints (checkpoint: { everySteps: 1, keepLast: ... } or keepEvery), or record from the first step on (rollouts: { record: true }).",
    },
  );
}

/**
 * Throws HONE_ERR_UNSUPPORTED for an objective that is a function of the run's entry script, HONE_ERR_CONFIG for a module
 * that cannot be loaded or is not the run's.
 */
async function expectAskable(recipe: Recipe): Promise<void> {
  const { kind, slopes } = recipe.objective;
  if (kind === "custom" && slopes !== undefined && "function" in slopes)
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      `the run trained by the function ${slopes.function} of its entry script, of which the record has only name and hash`,
      {
        hint: `Export it from a module and say objective.slopes: "./loss.ts#${slopes.function}": such a run can be explained. \`hone replay --recipe\` trains this one again.`,
      },
    );
  await openSlopes(recipe);
}

/** The recipe of every step and the changes of hooks, from the event log. */
function readPast(dir: string, trust: Trust | undefined): Past {
  const events = readEvents(join(dir, RUN_FILES.events));
  const recipes = new Map<number, Recipe>();
  const manifest = readRunManifest(dir);
  const hooked = {
    rewards: new Map<number, readonly number[]>(),
    advantages: new Map<number, readonly number[]>(),
  };
  for (const { recipe: config, steps } of readHistory(events).stretches) {
    const recipe = recordedRecipe(config ?? manifest.config, dir, { ...manifest, trust });
    for (const { event, groups } of steps) {
      recipes.set(event.s + 1, recipe);
      for (const { g, h } of groups) if (h !== undefined) hooked.rewards.set(g, h);
      for (const [g, advantages] of hookAdvantages(event)) hooked.advantages.set(g, advantages);
    }
  }
  return { recipes, hooked };
}

/** A trainer that trains the recorded steps again, reopened when the recipe changes. */
class WayBack {
  readonly #dir: string;
  readonly #past: Past;
  readonly #core: Core;
  #open: Pick<BeforeStep, "trainer" | "model" | "recipe" | "teach"> | undefined;
  readonly #opened: Opened = [];
  /** If the KL term compares whole distributions: the reference trainer, and the step whose policy it holds. */
  #reference: { readonly own: TrainerFace; readonly asked: Reference; at?: number } | undefined;

  constructor(dir: string, past: Past, core: Core) {
    this.#dir = dir;
    this.#past = past;
    this.#core = core;
  }

  /** @param checkpoint undefined: the initial weights @param next the step that follows it */
  async start(checkpoint: string | undefined, next: number): Promise<void> {
    const { trainer, model, recipe } = await this.#make(this.#recipeOf(next));
    const checkpoints = new Checkpoints(this.#dir);
    if (checkpoint === undefined) {
      if (model.origin === undefined && !existsSync(checkpoints.warmStart))
        throw new HoneError(
          "HONE_ERR_CHECKPOINT",
          `${checkpoints.warmStart} is missing: the initial weights`,
          {
            hint: "Choose a step after one of the checkpoints that exist.",
          },
        );
      await checkpoints.loadStart(trainer, { model, recipe });
    } else {
      if (recipe.lora !== undefined) await checkpoints.loadBase(trainer, model);
      await checkpoints.load(trainer, checkpoint);
    }
  }

  async trainAgain({ step, groups }: Step): Promise<void> {
    const { trainer, recipe, teach } = await this.arrive(step);
    if (step.trained === undefined) return;
    const settled = settleRecorded(groups, recipe, this.#past.hooked);
    expectRecorded(settled, groups);
    const slopes = customSlopes(recipe);
    const options = { ...step.trained.objective, muonLr: 0, ...(slopes && { slopes }) };
    const updates = batchUpdates(settled, recipe, options);
    const taught = await taughtStep(updates.whole, options, recipe, teach);
    const { report } = await updatePolicy({ ...updates, ...taught, whole: taught.batch }, trainer);
    expectSameStep(step, report);
    if (trainer.version === step.version) return;
    throw diverged(step.step, `gave weight version ${trainer.version}; in the run it gave ${step.version}`);
  }

  /** Returns the trainer with the step's own recipe, at the step's version. */
  async arrive({ step, versionBefore }: RecordedStep) {
    const recipe = this.#recipeOf(step);
    if (this.#open!.recipe !== recipe) await this.#moveTo(recipe);
    const open = this.#open!;
    await this.#refer(step);
    if (open.trainer.version === versionBefore) return open;
    throw diverged(
      step,
      `starts from version ${versionBefore}, but what was restored is ${open.trainer.version}`,
    );
  }

  /** Loads the weights that the reference policy had at the step. */
  async #refer(step: number): Promise<void> {
    const { recipe, model } = this.#open!;
    if (this.#reference === undefined) return;
    const { own, asked, at } = this.#reference;
    const { referenceEverySteps: every } = recipe.objective;
    const since = every === 0 ? 0 : Math.floor((step - 1) / every) * every;
    if (at === since) return;
    const checkpoints = new Checkpoints(this.#dir);
    if (at === undefined) await checkpoints.loadStart(own, { model, recipe });
    if (since > 0) await own.load(new ReferenceWeights(checkpoints.directory).at(since));
    this.#reference.at = since;
    await asked.loaded();
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((end) => end()));
    this.#open = undefined;
  }

  async #make(recipe: Recipe) {
    const manifest = readRunManifest(this.#dir);
    const model = await openModel(recipe, recordedClock(manifest));
    checkOrigin(this.#dir, manifest.model, model.origin);
    const arithmetic = recordedArithmetic(manifest);
    const teacher = recipe.teacher?.divergence && (await openTeacher(recipe, model));
    if (teacher !== undefined) {
      if (teacher.config === undefined) throw noServer();
      checkOrigin(this.#dir, manifest.teacher, teacher.origin, "teacher.folder");
    }
    const core = this.#core;
    const placed = placedHere(recipe, { config: model.config, teacher: teacher?.config }, core.info());
    const trainer = core.trainer(model.config, trainerOptions(placed, arithmetic));
    this.#opened.push(() => trainer.close());
    const own = hasFullKl(recipe.objective)
      ? core.trainer(model.config, trainerOptions(placed, arithmetic))
      : undefined;
    if (own !== undefined) this.#opened.push(() => own.close());
    this.#reference = own && { own, asked: new Reference(own, { recipe, trainer }) };
    const teach =
      this.#reference?.asked.score ??
      (teacher && (await openScores(teacher, { core, placed, arithmetic, trainer }, this.#opened)));
    this.#open = { trainer, model, recipe, teach };
    return this.#open;
  }

  async #moveTo(recipe: Recipe): Promise<void> {
    const saved = mkdtempSync(join(tmpdir(), "hone-before-step-"));
    const weights = join(saved, "weights");
    try {
      await this.#open!.trainer.save(weights, "{}");
      await this.close();
      const { trainer, model } = await this.#make(recipe);
      if (recipe.lora !== undefined) await new Checkpoints(this.#dir).loadBase(trainer, model);
      await trainer.load(weights);
    } finally {
      rmSync(saved, { recursive: true, force: true });
    }
  }

  #recipeOf(step: number): Recipe {
    const recipe = this.#past.recipes.get(step);
    if (recipe !== undefined) return recipe;
    throw new HoneError(
      "HONE_ERR_FORMAT",
      `${join(this.#dir, RUN_FILES.events)} has no entry for step ${step}`,
    );
  }
}

/** Throws HONE_ERR_REPLAY if a recomputed step differs from the recorded one in any bit. */
export function expectSameStep({ step, trained }: RecordedStep, report: StepReport): void {
  expectSame(step, "", trained!, report);
}

/** Like expectSameStep, for one of a step's updates. @param number counted from 1 */
export function expectSameUpdate({ step, trained }: RecordedStep, number: number, report: StepReport): void {
  expectSame(step, `in its update ${number} `, trained!.updates![number - 1]!, report);
}

function expectSame(
  step: number,
  where: string,
  recorded: { readonly loss: number; readonly gradNorm: number },
  report: StepReport,
): void {
  for (const name of ["loss", "gradNorm"] as const) {
    const then = recorded[name] ?? Number.NaN; // JSON writes null for numbers that are not finite
    const here = Number.isFinite(report[name]) ? report[name] : Number.NaN;
    if (Object.is(then, here)) continue;
    throw diverged(step, `has ${where}${name} ${here}, in the run ${then}`);
  }
}

export const diverged = (step: number, what: string): HoneError =>
  new HoneError("HONE_ERR_REPLAY", `step ${step} ${what}`, {
    details: { step },
    hint: "A step is the same to the bit on the same build, device and instruction set; compare `hone doctor` with run.json.",
  });
