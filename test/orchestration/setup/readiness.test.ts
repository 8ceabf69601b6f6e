// Deliberate faults (mutants) that these tests detect: the check accepts what a run refuses; a run replaces the
// earlier one and then refuses.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkRecipe } from "../../../lib/cli/check.ts";
import { defineRecipe, overrideRecipe, type Recipe, recipeInput } from "../../../lib/config/index.ts";
import { HoneError } from "../../../lib/errors.ts";
import { createRun } from "../../../lib/orchestration/index.ts";
import { thisMachine } from "../../../lib/orchestration/setup/readiness.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-ready-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const demonstrated = (maxOutputTokens: number) =>
  defineRecipe({
    ...recipeInput(smallRecipe()),
    rollouts: { groupSize: 4, maxOutputTokens, maxPromptTokens: 64 },
    warmStart: { steps: 100, mixture: { logic: 1 } },
  });
/** A recipe whose keys and values exceed every machine's memory. */
const vast = overrideRecipe(smallRecipe(), ["engine.pages=200000000"]);

async function refusalOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!HoneError.is(error)) throw new Error(`refused with ${String(error)}`);
  return { code: error.code, message: error.message };
}

/** The refusal that `hone check` prints: an error, or a failed stage. */
async function checkRefusal(recipe: Recipe): Promise<string> {
  try {
    const { stages } = await checkRecipe(recipe);
    return stages
      .filter(({ ok }) => !ok)
      .map(({ said }) => said)
      .join("\n");
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  ["memory", vast, "HONE_ERR_OUT_OF_MEMORY", /does not fit CPU: actor and trainer needs/],
  ["demonstrations", demonstrated(24), "HONE_ERR_CONFIG", /demonstration of level \d takes \d+ tokens/],
])(
  "a run refuses in the words of check, before anything is made: %s",
  async (_, recipe, code, message) => {
    mkdirSync(join(dir, "checkpoints"));
    const core = standInCore();
    const refusal = await refusalOf(createRun(recipe, { dir, core, overwrite: true }));
    expect(refusal).toEqual({ code, message: expect.stringMatching(message) });
    expect(await checkRefusal(recipe)).toContain(refusal.message);
    expect(existsSync(join(dir, "checkpoints"))).toBe(true); // the folder still has the earlier run
    expect(existsSync(join(dir, "run.json"))).toBe(false);
  },
  60_000,
);

test("a plan reckons with this machine's memory, and with its first GPU where there is one", () => {
  const cuda = { ...standInCore().info().cuda, devices: ["NVIDIA H100 (0)", "another"], memoryBytes: 80e9 };
  expect(thisMachine()).toMatchObject({ memory: totalmem() });
  expect(thisMachine({ ...cuda, devices: [], memoryBytes: null })).not.toHaveProperty("gpu");
  expect(thisMachine(cuda).gpu).toEqual({ name: "NVIDIA H100", memory: 80e9 });
});
