import type { Recipe } from "../config/index.ts";
import { type Model, openTeacher, TeacherEndpoint } from "../orchestration/index.ts";
import { networkOf } from "../plan/index.ts";
import type { Stage } from "./cluster-check.ts";
import { knownModel } from "./model-name.ts";

/** Checks that the teacher is available and reads the model's tokens; undefined for a recipe without one. */
export async function teacherStage(
  recipe: Recipe,
  model: Pick<Model, "config" | "tokenizer">,
  modelIsHere: boolean,
): Promise<Stage[]> {
  if (recipe.teacher === undefined) return [];
  const { folder, endpoint } = recipe.teacher;
  if (folder === undefined) return [await endpointStage(recipe, model, endpoint!, modelIsHere)];
  const found = await knownModel(folder);
  const { parameters } = networkOf(found.config);
  const size = `${parameters.toLocaleString("en")} parameters`;
  if (found.folder === undefined || !modelIsHere) {
    const said = `${size}; its tokenizer can be compared with the model's only once both are downloaded`;
    return [{ name: "teacher", ok: true, said }];
  }
  await openTeacher({ ...recipe, teacher: { ...recipe.teacher, folder: found.folder } }, model);
  return [{ name: "teacher", ok: true, said: `${size}, the model's own tokenizer` }];
}

/** Asks the server once about two tokens. */
async function endpointStage(
  recipe: Recipe,
  model: Pick<Model, "config" | "tokenizer">,
  { url, tokenizer }: NonNullable<NonNullable<Recipe["teacher"]>["endpoint"]>,
  modelIsHere: boolean,
): Promise<Stage> {
  const endpoint = { ...recipe.teacher!.endpoint!, retries: 0 };
  if (modelIsHere) await openTeacher(recipe, model);
  await using teacher = new TeacherEndpoint(endpoint, recipe.teacher!.divergence?.topK ?? 0);
  const two = { tokens: Int32Array.of(0, 1), mask: Uint8Array.of(0, 1), cuSeqlens: Int32Array.of(0, 2) };
  await teacher.score(two);
  const same =
    tokenizer === undefined
      ? "its tokenizer is not compared: teacher.endpoint.tokenizer names none"
      : modelIsHere
        ? "the model's own tokenizer"
        : "its tokenizer is compared once the model is here";
  return { name: "teacher", ok: true, said: `${url} scores given tokens; ${same}` };
}
