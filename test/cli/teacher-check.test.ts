import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { teacherStage } from "../../lib/cli/teacher-check.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import { openModel } from "../../lib/orchestration/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { tinyInput, tinyRecipe } from "../e2e/tiny-recipe.ts";
import { temporaryFolder } from "../fixtures/model-folder.ts";
import { teacherFolder } from "../fixtures/teacher-folder.ts";

const recipeOf = (folder: string) =>
  defineRecipe({ ...tinyInput(), objective: { kind: "dapo" }, teacher: { folder } });

describe.skipIf(noAddon !== undefined)("the stage of a teacher", () => {
  test("says its size, and whether its tokenizer was compared", async () => {
    using at = temporaryFolder();
    const recipe = recipeOf(await teacherFolder(join(at.path, "t")));
    const model = await openModel(recipe);
    expect(await teacherStage(tinyRecipe(), model, true)).toEqual([]);
    const [stage] = await teacherStage(recipe, model, true);
    expect(stage).toEqual({
      name: "teacher",
      ok: true,
      said: expect.stringMatching(/^[\d,]+ parameters, the model's/),
    });
    const [later] = await teacherStage(recipe, model, false);
    expect(later!.said).toContain("only once both are downloaded");
    const published = recipeOf("Qwen/Qwen3-4B"); // the sizes are known although the files are not downloaded
    expect((await teacherStage(published, model, true))[0]!.said).toMatch(
      /^4,022,468,096 parameters; its tokenizer/,
    );
  });

  test("refuses a folder that is not there", async () => {
    using at = temporaryFolder();
    const recipe = recipeOf(join(at.path, "gone"));
    rmSync(join(at.path, "gone"), { force: true });
    await expect(teacherStage(recipe, await openModel(tinyRecipe()), true)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
    });
  });
});
