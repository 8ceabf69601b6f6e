import { hasFullKl, type Recipe } from "../../config/index.ts";
import type { TrainerFace } from "../../native/face.ts";
import type { FrozenScores, TeachTokens } from "../pipeline/index.ts";
import type { Checkpoints, ReferenceWeights } from "../recovery/index.ts";
import { type FolderTeacher, type RunResources, type Teacher, trainerOptions } from "../setup/index.ts";
import { firstOf } from "./likeliest-tokens.ts";

/** Weights beside the policy's that score what it sampled and are never trained; each on a trainer of its own. */
export interface FrozenPolicies extends FrozenScores, AsyncDisposable {
  /** Steps after which the policy last became the reference. */
  readonly referenceStep: () => number | undefined;
}

/** Where the weights are kept that a reference was refreshed to. */
export interface Refreshes {
  readonly kept: ReferenceWeights;
  /** Steps after which it was last; undefined: it is what training started from. */
  readonly last: number | undefined;
  /** The earliest step that a run may go on from; undefined: none but its beginning. */
  readonly oldest: () => number | undefined;
}

/** Opens and loads those that the recipe asks for. */
export async function openFrozenPolicies(
  resources: RunResources,
  checkpoints: Checkpoints,
  refreshes: Refreshes,
): Promise<FrozenPolicies> {
  const { recipe, teacher } = resources;
  const opened: Opened = [];
  const close = async () => void (await Promise.all(opened.map((end) => end())));
  const open = (trainer: TrainerFace) => {
    opened.push(() => trainer.close());
    return trainer;
  };
  try {
    const { klCoef, referenceEverySteps: every } = recipe.objective;
    let last = every > 0 ? refreshes.last : undefined;
    const own = klCoef === 0 ? undefined : open(resources.openTrainer());
    const reference = own && new Reference(own, resources);
    if (own !== undefined) {
      await checkpoints.loadStart(own, resources);
      if (last !== undefined) await own.load(refreshes.kept.at(last));
      await reference!.loaded();
    }
    const stepped = async (steps: number) => {
      if (own === undefined || every === 0 || steps % every !== 0) return;
      await own.load(await refreshes.kept.save(resources.trainer, steps, refreshes.oldest));
      await reference!.loaded();
      last = steps;
    };
    const taught = teacher && (await openScores(teacher, resources, opened));
    return {
      ...(reference && { reference: reference.score }),
      ...(taught && { teacher: taught }),
      stepped,
      referenceStep: () => last,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The policy of the KL term, on a trainer whose weights others load. */
export class Reference {
  readonly #own: TrainerFace;
  readonly #student: TrainerFace;
  readonly #recipe: Recipe;

  constructor(
    own: TrainerFace,
    { recipe, trainer }: { readonly recipe: Recipe; readonly trainer: TrainerFace },
  ) {
    this.#own = own;
    this.#recipe = recipe;
    this.#student = trainer;
  }

  /** It has other weights: tells the student its head, where that computes its logits. */
  async loaded(): Promise<void> {
    const { objective } = this.#recipe;
    if (hasFullKl(objective) && objective.klTopK === undefined)
      await this.#student.setTeacherHead(await this.#own.teacherHead());
  }

  readonly score: TeachTokens = async (batch) => {
    const { objective, rollouts } = this.#recipe;
    if (hasFullKl(objective)) return this.#own.teach(batch, rollouts.temperature, objective.klTopK ?? 0);
    return { logprobs: (await this.#own.score(batch, rollouts.temperature)).logprobs };
  };
}

/** How what was opened is closed. */
export type Opened = (() => PromiseLike<void>)[];

type ForTeacher = Pick<RunResources, "core" | "placed" | "arithmetic" | "trainer">;

/** What asks the teacher, on a trainer of its own or a server. @param opened what is to be closed */
export async function openScores(
  teacher: Teacher,
  resources: ForTeacher,
  opened: Opened,
): Promise<TeachTokens> {
  if (teacher.config !== undefined) return await openFolder(teacher, resources, opened);
  const endpoint = teacher.open();
  opened.push(() => endpoint[Symbol.asyncDispose]());
  return (batch) => endpoint.score(batch);
}

async function openFolder(
  { config, fill, vocabulary, beyond }: FolderTeacher,
  { core, placed: recipe, arithmetic, trainer: student }: ForTeacher,
  opened: Opened,
): Promise<TeachTokens> {
  const { temperature } = recipe.rollouts;
  const trainer = core.trainer(config, trainerOptions(recipe, arithmetic, true));
  opened.push(() => trainer.close());
  await fill(trainer);
  const divergence = recipe.teacher?.divergence;
  if (divergence === undefined)
    return async (batch) => ({ logprobs: (await trainer.score(batch, temperature)).logprobs });
  const { topK = 0 } = divergence;
  if (topK > 0)
    return async (batch) =>
      firstOf(await trainer.teach(batch, temperature, topK + beyond), topK, topK + beyond, vocabulary);
  await student.setTeacherHead(await trainer.teacherHead());
  return (batch) => trainer.teach(batch, temperature, 0);
}
