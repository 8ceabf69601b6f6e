import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import type { RecipeInput } from "../../../lib/config/index.ts";
import type { StepOptions, StepReport, TrainingBatch } from "../../../lib/native/face.ts";
import type { StepBatch } from "../../../lib/orchestration/pipeline/batcher.ts";
import { EntropyControl } from "../../../lib/orchestration/pipeline/entropy-control.ts";
import { ReplayBuffer } from "../../../lib/orchestration/pipeline/replay-buffer.ts";
import {
  type FrozenScores,
  type StepOutcome,
  trainSteps,
} from "../../../lib/orchestration/pipeline/step-trainer.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";
import { StandInTrainer, standInCore } from "../stand-in-core.ts";

const full: StepBatch = {
  groups: [settledOf(0, [rolloutOf([1], [5, 2], 1), rolloutOf([1], [6, 2], -1)])],
  credits: 1,
};
const empty: StepBatch = { groups: [settledOf(1, [], "zero-advantage")], credits: 1 };

async function train(
  batches: readonly StepBatch[],
  bad: (step: number) => Partial<StepReport> = () => ({}),
  training: object = {},
  {
    clock = systemClock,
    onBatch = () => {},
    onOutcome = () => {},
    frozen,
    objective,
  }: {
    clock?: Clock;
    onBatch?: () => void;
    onOutcome?: () => void;
    frozen?: FrozenScores;
    objective?: RecipeInput["objective"];
  } = {},
) {
  const options: StepOptions[] = [];
  const trained: TrainingBatch[] = [];
  const trainer = new StandInTrainer({
    onStep: (data, o, step) => {
      trained.push(data);
      options.push(o);
      return bad(step);
    },
  });
  const published: number[] = [];
  const engine = standInCore().engine("", { maxRunning: 1, pages: 1 } as never, {} as never);
  Object.assign(engine, { take: (version: number) => published.push(version) });
  const afterPublication = () => {};
  const recipe = smallRecipe(
    { steps: 9, ...training },
    { optimizer: { warmupSteps: 50 }, ...(objective && { objective }) },
  );
  const parts = {
    recipe,
    buffer: new ReplayBuffer(recipe),
    trainer,
    engine,
    clock,
    entropy: new EntropyControl({ entropyCoef: 0 }),
    ...(frozen && { frozen }),
    afterPublication,
  };
  const source = (async function* () {
    for (const batch of batches) {
      onBatch();
      yield batch;
    }
  })();
  const outcomes: StepOutcome[] = [];
  for await (const outcome of trainSteps(source, 3, parts)) {
    outcomes.push(outcome);
    onOutcome();
  }
  return { outcomes, options, trained, published };
}

test("a step trains with the recipe's objective and publishes the next version", async () => {
  const { outcomes, options, published } = await train([full, full]);
  expect(outcomes.map((o) => [o.step, o.versionBefore, o.version])).toEqual([
    [3, 0, 1],
    [4, 1, 2],
  ]);
  expect(published).toEqual([1, 2]);
  expect(options[0]).toMatchObject({ objective: "gspo", clipLow: 3e-3, clipHigh: 4e-3, temperature: 1 });
  expect(options[0]!.lr).toBeCloseTo((2.5e-4 * 4) / 50, 15);
});

test("routes of the batch are the policy's: the reference routes by its own router", async () => {
  const [scored, other] = [rolloutOf([1], [5, 2], 1), rolloutOf([1], [6, 2], -1)];
  const routes = { width: 3, bytes: new Uint8Array(6) };
  const group = settledOf(0, [{ ...scored, rollout: { ...scored.rollout, routes } }, other]);
  const seen: TrainingBatch[] = [];
  const reference = async (data: TrainingBatch) => {
    seen.push(data);
    return { logprobs: new Float32Array(data.tokens.length) };
  };
  const objective = { klCoef: 0.1, router: { replay: true, zCoef: 0.5 } };
  const { trained, options } = await train(
    [{ groups: [group], credits: 1 }],
    undefined,
    {},
    { frozen: { reference }, objective },
  );
  expect(trained[0]!.routes).toHaveLength(3 * trained[0]!.tokens.length);
  expect(seen[0]).not.toHaveProperty("routes");
  expect(seen[0]!.tokens).toEqual(trained[0]!.tokens);
  expect(options[0]!.router).toEqual({ balanceCoef: 0, zCoef: 0.5 });
});

test("without a kept group nothing is trained or published, and the step counts", async () => {
  const { outcomes, published } = await train([empty, full]);
  expect(outcomes.map((o) => o.update === undefined)).toEqual([true, false]);
  expect(outcomes.map((o) => o.step)).toEqual([3, 4]);
  expect(published).toEqual([1]);
});

test("a skipped step publishes nothing; too many in a row end the run", async () => {
  const nan = { skipped: true, nonFiniteSequence: 1 };
  const { published } = await train([full, full, full], (step) => (step === 1 ? nan : {}));
  expect(published).toEqual([1, 2]);
  await expect(train([full, full], () => nan, { maxSkippedInARow: 2 })).rejects.toMatchObject({
    code: "HONE_ERR_NON_FINITE",
    details: { step: 4 },
  });
});

test("ends after the recipe's last step, whatever still comes", async () => {
  const { outcomes } = await train([full, full, full], undefined, { steps: 5 });
  expect(outcomes).toHaveLength(2);
});

test("waiting is what the batch took to come: neither the step nor what its taker did is in it", async () => {
  let ms = 0;
  const pass = (amount: number) => () => {
    ms += amount;
  };
  const step = () => {
    ms += 1000;
    return {};
  };
  const clock = { now: () => ms };
  const times = { clock, onBatch: pass(50), onOutcome: pass(7000) };
  const { outcomes } = await train([full, full], step, {}, times);
  expect(outcomes.map((o) => o.timing)).toEqual([
    { total: 1.05, waiting: 0.05 },
    { total: 8.05, waiting: 0.05 },
  ]);
});
