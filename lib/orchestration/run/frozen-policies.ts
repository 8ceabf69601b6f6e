import { hasFullKl, type Recipe } from "../../config/index.ts";
import type { TrainerFace } from "../../native/face.ts";
import type { FrozenScores, TeachTokens } from "../pipeline/index.ts";
import type { Checkpoints, ReferenceWeights } from "../recovery/index.ts";
import { type FolderTeacher, type RunResources, type Teacher, trainerOptions } from "../setup/index.ts";
import { firstOf } from "./likeliest-tokens.ts";

/** Frozen models that score the policy's samples; each has its own trainer. */
export interface FrozenPolicies extends FrozenScores, AsyncDisposable {
  /** Steps after which the policy last became the reference. */
  readonly referenceStep: () => number | undefined;
}

/** Storage of refreshed reference weights. */
export interface Refreshes {
  readonly kept: ReferenceWeights;
  /** Number of steps after which the reference was last refreshed; undefined while it is the initial policy. */
  readonly last: number | undefined;
  /** The earliest step from which the run may be resumed; undefined if it can only restart. */
  readonly oldest: () => number | undefined;
}

/** Opens and loads the frozen models that the recipe needs. */
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

/** The frozen policy of the KL term; the caller loads its trainer's weights. */
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

  /**
   * To be called after the weights change: passes their head to the student, if the student computes the
   * reference's logits.
   */
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

/** Cleanup functions of opened resources. */
export type Opened = (() => PromiseLike<void>)[];

type ForTeacher = Pick<RunResources, "core" | "placed" | "arithmetic" | "trainer">;

/** Opens the teacher's scoring function, on its own trainer or a server. @param opened receives cleanup functions */
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
