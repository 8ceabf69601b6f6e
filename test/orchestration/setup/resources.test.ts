import { expect, test } from "vitest";
import type { TrainerOptions } from "../../../lib/native/face.ts";
import { openResources } from "../../../lib/orchestration/setup/resources.ts";
import type { JobPlace, VerificationJob } from "../../../lib/rewards/index.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

test("verifiers of somebody else are used and not closed", async () => {
  const resources = await openResources(smallRecipe(), standInCore(), inlineVerifiers);
  expect(resources.verifiers).toBe(inlineVerifiers);
  await resources[Symbol.asyncDispose]();
});

test("jobs of verifiers go where the core says, as many at a time as the recipe has workers, and that is closed", async () => {
  const asked: VerificationJob[] = [];
  let closed = 0;
  const verifierHosts = (workers: number): JobPlace => ({
    count: 3 * workers,
    run: async (_, job) => {
      asked.push(job);
      const verdict = { status: "wrong", score: 0, reason: "elsewhere" } as const;
      return {
        kind: "done",
        outcomes: job.members.map(() => ({ verdict, microseconds: 1 })),
        limits: undefined,
      };
    },
    pids: () => [],
    close: async () => void closed++,
  });
  const resources = await openResources(smallRecipe(), { ...standInCore(), verifierHosts });
  const problem = resources.sources.get("math")!.problem(0);
  const verdicts = await resources.verifiers.verify([{ problem, text: "1", finish: "eos" }]);
  expect(verdicts).toEqual([{ status: "wrong", score: 0, reason: "elsewhere" }]);
  expect(asked.map(({ members }) => members)).toEqual([
    [{ reference: problem.reference, text: "1", finish: "eos" }],
  ]);
  await resources[Symbol.asyncDispose]();
  expect(closed).toBeGreaterThan(0);
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
    const resources = await openResources(smallRecipe({}, overrides), { ...core, trainer }, inlineVerifiers);
    await resources.openTrainer().close();
    await resources[Symbol.asyncDispose]();
    expect(made.map(({ deterministic }) => deterministic)).toEqual([expected, expected]);
  }
});
