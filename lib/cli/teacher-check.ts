import type { Recipe } from "../config/index.ts";
import { findConfig } from "../inference/index.ts";
import { type Model, openTeacher } from "../orchestration/index.ts";
import { networkOf } from "../plan/index.ts";
import type { Stage } from "./cluster-check.ts";

/** Whether the teacher is here and reads the model's tokens; none for a recipe without one. */
export async function teacherStage(
  recipe: Recipe,
  model: Pick<Model, "config" | "tokenizer">,
  modelIsHere: boolean,
): Promise<Stage[]> {
  if (recipe.teacher === undefined) return [];
  const found = await findConfig(recipe.teacher.folder);
  const { parameters } = networkOf(found.config);
  const size = `${parameters.toLocaleString("en")} parameters`;
  if (found.folder === undefined || !modelIsHere) {
    const said = `${size}; whether its tokenizer is the model's is told once both are here`;
    return [{ name: "teacher", ok: true, said }];
  }
  await openTeacher(recipe, model);
  return [{ name: "teacher", ok: true, said: `${size}, the model's own tokenizer` }];
}
