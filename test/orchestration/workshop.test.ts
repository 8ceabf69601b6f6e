import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TrainerOptions } from "../../lib/native/face.ts";
import { openSources, openWorkshop, weightsHash } from "../../lib/orchestration/workshop.ts";
import { inlineVerifiers } from "./inline-verifiers.ts";
import { smallRecipe } from "./small-recipe.ts";
import { StandInTrainer, standInCore } from "./stand-in-core.ts";

test("a domain must get its own kind of problems", async () => {
  const recipe = smallRecipe({}, { domains: { math: { weight: 1, source: "procedural/logic" } } });
  await expect(openSources(recipe)).rejects.toThrow(
    /domains.math.source is procedural\/logic, whose domain is logic/,
  );
});

test("verifiers of somebody else are used and not closed", async () => {
  const workshop = await openWorkshop(smallRecipe(), standInCore(), inlineVerifiers);
  expect(workshop.verifiers).toBe(inlineVerifiers);
  await workshop[Symbol.asyncDispose]();
});

test("every trainer of a run is as deterministic as the recipe says, by default not", async () => {
  for (const [overrides, expected] of [
    [{}, false],
    [{ deterministic: true }, true],
  ] as const) {
    const made: TrainerOptions[] = [];
    const core = standInCore();
    const trainer: typeof core.trainer = (config, options) => {
      made.push(options);
      return core.trainer(config, options);
    };
    const workshop = await openWorkshop(smallRecipe({}, overrides), { ...core, trainer }, inlineVerifiers);
    await workshop.openTrainer().close();
    await workshop[Symbol.asyncDispose]();
    expect(made.map(({ deterministic }) => deterministic)).toEqual([expected, expected]);
  }
});

test("the hash of a checkpoint is of its weights, not of what else it says", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-hash-"));
  const trainer = new StandInTrainer({});
  await trainer.save(join(dir, "a"), "one");
  await trainer.save(join(dir, "b"), "two");
  trainer.word = 1;
  await trainer.save(join(dir, "c"), "one");
  const [a, b, c] = ["a", "b", "c"].map((name) => weightsHash(join(dir, name)));
  expect(a).toBe(b);
  expect(c).not.toBe(a);
  expect(() => weightsHash(join(dir, "d"))).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CHECKPOINT" }),
  );
  rmSync(dir, { recursive: true });
});
