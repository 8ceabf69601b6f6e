import { expect, test } from "vitest";
import {
  gradientsAreDue,
  measureGradients,
  partsOf,
} from "../../../lib/orchestration/pipeline/gradient-parts.ts";
import { assembleBatch } from "../../../lib/orchestration/pipeline/training-batch.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";
import { StandInTrainer } from "../stand-in-core.ts";

/** A batch of groups, each with its domain and number of rollouts. */
const batchOf = (...groups: readonly (readonly [string, number])[]) =>
  assembleBatch(
    groups.map(([domain, size], g) => {
      const one = rolloutOf([1], [5], 1);
      const problem = { ...one.rollout.problem, domain };
      const members = Array.from({ length: size }, () => ({ ...one, rollout: { ...one.rollout, problem } }));
      return settledOf(g, members);
    }),
    80,
  );
const DOMAINS = ["code", "math", "logic"];

test("a domain's groups go to its halves by turns, whole, and domains have the recipe's order", () => {
  const { partOf, parts } = partsOf(
    batchOf(["math", 2], ["code", 1], ["math", 3], ["math", 1], ["code", 2]),
    DOMAINS,
    true,
  );
  expect([...partOf]).toEqual([2, 2, 1, 3, 3, 3, 2, 0, 0]);
  expect(parts).toEqual([
    { domain: "code", groups: 1 },
    { domain: "code", groups: 1 },
    { domain: "math", groups: 2 },
    { domain: "math", groups: 1 },
  ]);
});

test("two groups side by side are two, even of one problem", () => {
  const { parts } = partsOf(batchOf(["math", 1], ["math", 1], ["math", 1], ["math", 1]), DOMAINS, true);
  expect(parts.map(({ groups }) => groups)).toEqual([2, 2]);
});

test("domains of one group each go to one half after the other", () => {
  const { partOf } = partsOf(batchOf(["math", 1], ["code", 1], ["logic", 1]), DOMAINS, true);
  expect([...partOf]).toEqual([2, 1, 4]);
});

test("without halves a part is a domain", () => {
  const { partOf, parts } = partsOf(batchOf(["logic", 2], ["code", 1], ["logic", 1]), DOMAINS, false);
  expect([...partOf]).toEqual([1, 1, 0, 1]);
  expect(parts).toEqual([
    { domain: "code", groups: 1 },
    { domain: "logic", groups: 2 },
  ]);
});

test("they are due in steps that everySteps divides, counted from 1, and never by default", () => {
  const due = (everySteps: number) => {
    const recipe = smallRecipe({}, { metrics: { gradients: { everySteps } } });
    return [0, 1, 2, 3, 4, 5].filter((step) => gradientsAreDue(recipe, step));
  };
  expect(due(3)).toEqual([2, 5]);
  expect(due(1)).toHaveLength(6);
  expect(due(0)).toEqual([]);
  expect([0, 1, 2].filter((step) => gradientsAreDue(smallRecipe(), step))).toEqual([]);
});

test("the trainer is asked with the data and the options of the step, and timed from the call on", async () => {
  const asked: unknown[] = [];
  let ms = 1000;
  const clock = { now: () => ms };
  const trainer = new StandInTrainer({});
  const ask = trainer.gradientParts.bind(trainer);
  trainer.gradientParts = (...all) => {
    asked.push(...all);
    ms += 250; // the thread waits that long for a core
    return ask(...all);
  };
  const recipe = smallRecipe({}, { metrics: { gradients: { everySteps: 1, noiseScale: false } } });
  const batch = batchOf(["code", 2], ["math", 1]);
  const options = { lr: 3 } as never;
  const facts = await measureGradients(batch, { recipe, trainer, clock, data: batch.data, options });
  const order = Object.keys(recipe.domains);
  expect(asked).toEqual([batch.data, options, partsOf(batch, order, false).partOf, 2]);
  expect(facts).toEqual({
    parts: partsOf(batch, order, false).parts,
    products: Float64Array.of(1, 0, 0, 1),
    seconds: 0.25,
  });
});
