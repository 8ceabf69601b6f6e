import type { Recipe } from "../config/index.ts";

/** The model's config.json, from its folder, the Hub's cache or the table of published models. Throws HONE_ERR_IO. */
export async function recipeConfig({ model }: Recipe): Promise<string> {
  if (model.folder !== undefined)
    return (await (await import("../inference/index.ts")).findConfig(model.folder)).config;
  const { QUICKSTART_LEXICON } = await import("../domains/index.ts");
  const { newModelConfig } = await import("../orchestration/index.ts");
  const { LexiconTokenizer } = await import("../text/index.ts");
  return newModelConfig(model.config, new LexiconTokenizer(QUICKSTART_LEXICON).vocabularySize);
}

/** Config of the teacher's model; undefined without a teacher, or for one behind a server. Throws HONE_ERR_IO. */
export async function teacherConfig({ teacher }: Recipe): Promise<string | undefined> {
  if (teacher?.folder === undefined) return undefined;
  return (await (await import("../inference/index.ts")).findConfig(teacher.folder)).config;
}
