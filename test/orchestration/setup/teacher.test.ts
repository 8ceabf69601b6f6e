import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineRecipe } from "../../../lib/config/index.ts";
import { QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { openModel, openTeacher } from "../../../lib/orchestration/index.ts";
import { noAddon } from "../../e2e/native-core.ts";
import { tinyInput } from "../../e2e/tiny-recipe.ts";
import { temporaryFolder } from "../../fixtures/model-folder.ts";
import { teacherFolder } from "../../fixtures/teacher-folder.ts";

const recipeOf = (folder: string) =>
  defineRecipe({ ...tinyInput(), objective: { kind: "dapo" }, teacher: { folder } });

describe.skipIf(noAddon !== undefined)("a teacher", () => {
  test("of the model's vocabulary is taken, whatever form its tokenizer's file has; without one there is none", async () => {
    using at = temporaryFolder();
    const recipe = recipeOf(await teacherFolder(join(at.path, "t")));
    const model = await openModel(recipe);
    const teacher = await openTeacher(recipe, model);
    expect(JSON.parse(teacher!.config!)).toMatchObject({ hidden_size: 48 });
    expect(Object.keys(teacher!.origin!.files)).toContain("model.safetensors");
    expect(await openTeacher(defineRecipe(tinyInput()), model)).toBeUndefined();
  });

  test("of another vocabulary is refused, and the first token that differs is named", async () => {
    using at = temporaryFolder();
    const words = [...QUICKSTART_LEXICON];
    [words[3], words[4]] = [words[4]!, words[3]!];
    const recipe = recipeOf(await teacherFolder(join(at.path, "t"), words));
    const id = 5 + 95 + 1 + 3; // special tokens, printable ASCII, newline, three words
    await expect(openTeacher(recipe, await openModel(recipe))).rejects.toMatchObject({
      code: "HONE_ERR_CONFIG",
      message: expect.stringContaining(
        `another tokenizer than the model: token ${id} is ${JSON.stringify(words[3])} there, ${JSON.stringify(words[4])} here`,
      ),
    });
  });

  test("of fewer tokens or too short a context is refused", async () => {
    using at = temporaryFolder();
    const recipe = recipeOf(await teacherFolder(join(at.path, "t"), QUICKSTART_LEXICON, 100));
    const model = await openModel(recipe);
    await expect(openTeacher(recipe, model)).rejects.toThrow(
      "has 100 positions; rollouts.maxPromptTokens + maxOutputTokens is 128",
    );
    // an evaluation may be longer, because the teacher scores only training rollouts
    const whole = recipeOf(await teacherFolder(join(at.path, "w")));
    const long = { ...whole, evaluation: { ...whole.evaluation, maxTokens: 100 } };
    expect(await openTeacher(long, model)).toBeDefined();
    const { vocab_size: size, ...config } = JSON.parse(model.config) as { vocab_size: number };
    const larger = { ...model, config: JSON.stringify({ ...config, vocab_size: size + 8 }) };
    await expect(openTeacher(recipe, larger)).rejects.toThrow(
      `has log-probs of ${size} tokens; the model samples from ${size + 8}`,
    );
    const fewer = { ...model, config: JSON.stringify({ ...config, vocab_size: size - 8 }) };
    expect(await openTeacher(whole, fewer)).toMatchObject({ vocabulary: size - 8, beyond: 8 });
    const all = { ...whole, teacher: { ...whole.teacher!, divergence: { beta: 0.5, topK: size } } };
    await expect(openTeacher(all, fewer)).rejects.toThrow(
      `is asked for the ${size} likeliest tokens; the model has ${size - 8}`,
    );
  });
});
