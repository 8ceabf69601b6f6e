import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineRecipe, type Recipe, type RecipeInput } from "../../lib/config/index.ts";
import {
  createRun,
  type RecordedGroup,
  type RecordedStep,
  type RunHooks,
  readRolloutRecord,
} from "../../lib/orchestration/index.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";

/** The number of steps of a recorded run. */
export const STEPS = 4;
const folders: string[] = [];
export const folder = () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-explain-"));
  folders.push(dir);
  return dir;
};
/** Call it after the last test of a file. */
export function removeFolders(): void {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
}

export interface Recording {
  readonly dir: string;
  readonly recipe: Recipe;
}

/** Records a run whose samples may be three versions old, so that ratios leave 1 and some are clipped. */
export async function record(
  rest: Partial<RecipeInput>,
  hooks: RunHooks = {},
  dir = folder(),
): Promise<Recording> {
  const input = tinyInput({ steps: STEPS, groupsPerStep: 3, schedule: "async", maxLag: 3, ...rest.training });
  const recipe = defineRecipe({
    ...input,
    ...rest,
    training: input.training,
    rollouts: { ...input.rollouts, record: true, ...rest.rollouts },
    checkpoint: { everySteps: 1, keepLast: 10, ...rest.checkpoint },
  });
  await using run = await createRun(recipe, { dir, verifiers, hooks, resume: "auto" });
  await run.finished;
  return { dir, recipe };
}

export async function readStep(dir: string, number: number) {
  const lines: unknown[] = [];
  for await (const line of readRolloutRecord(dir, number)) lines.push(line);
  const [step, ...groups] = lines;
  return { step: step as RecordedStep, groups: groups as RecordedGroup[] };
}

/** Returns the first attempt of the first group that the step trained on. */
export async function trainedAttempt({ dir }: Recording, step: number) {
  const { groups } = await readStep(dir, step);
  const group = groups.find(({ dropped }) => dropped === undefined)!;
  return { step, problem: group.problem, attempt: group.rollouts[0]!.attempt };
}
