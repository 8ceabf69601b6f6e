// Properties of every simulation; docs/how-to/simulate.md lists these tests.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SimulatedRun } from "../../lib/simulate/run-facts.ts";
import { simulate } from "../../lib/simulate/simulation.ts";
import { machineOf, recipeOf, WORKLOADS, withActor } from "./machines.ts";

const tokensOf = ({ tokens }: SimulatedRun): number => tokens.whole + tokens.underWay + tokens.wasted;

test("the same seed gives the same run, another seed another", async () => {
  const run = (seed: number) => simulate(recipeOf({}, { seed }), machineOf());
  const [first, again, other] = [await run(1), await run(1), await run(2)];
  expect(again).toEqual(first);
  expect(other.hash).not.toBe(first.hash);
});

test("every token that engines sampled is in a rollout, under way or lost to a failure", async () => {
  const smooth = await simulate(recipeOf(), machineOf());
  expect(smooth.tokens.wasted).toBe(0);
  expect(tokensOf(smooth) / smooth.sampled).toBeCloseTo(1, 9);
  const failing = await simulate(recipeOf(), machineOf({ failures: { mtbf: 40, restart: 5 } }));
  expect(failing.tokens.wasted).toBeGreaterThan(0);
  expect(tokensOf(failing) / failing.sampled).toBeCloseTo(1, 9);
  const tight = await simulate(recipeOf(), withActor({ keyValueTokens: 900 }));
  expect(tight.preemptions).toBeGreaterThan(0);
  expect(tokensOf(tight) / tight.sampled).toBeCloseTo(1, 9);
});

test("Little's law: rollouts in the pipeline = their rate times the time they stay", async () => {
  const { line } = await simulate(recipeOf({ steps: 400 }), machineOf());
  expect(line.population / (line.rate * line.seconds)).toBeGreaterThan(0.99);
  expect(line.population / (line.rate * line.seconds)).toBeLessThan(1.01);
});

test("no trained token is older than maxLag, on any machine", async () => {
  const plan = fc.record({
    seed: fc.nat(1000),
    maxLag: fc.integer({ min: 0, max: 4 }),
    groupsPerStep: fc.integer({ min: 1, max: 12 }),
    countGroups: fc.constantFrom("kept" as const, "completed" as const),
    schedule: fc.constantFrom("async" as const, "sync" as const),
    actors: fc.integer({ min: 1, max: 4 }),
    maxRunning: fc.integer({ min: 1, max: 40 }),
    keyValueTokens: fc.integer({ min: 448, max: 5000 }),
    trainFixed: fc.double({ min: 0, max: 60, noNaN: true }),
    workers: fc.integer({ min: 1, max: 3 }),
    failing: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(plan, async (p) => {
      const { seed, maxLag, groupsPerStep, countGroups, schedule } = p;
      const recipe = recipeOf({ steps: 8, groupsPerStep, countGroups, schedule, maxLag }, { seed });
      const base = machineOf({
        actors: p.actors,
        verifierWorkers: p.workers,
        trainer: { fixed: p.trainFixed, perToken: 0, perSquaredToken: 0, between: 0 },
        ...(p.failing && { failures: { mtbf: 100, restart: 10 } }),
      });
      const { maxRunning, keyValueTokens } = p;
      const run = await simulate(recipe, withActor({ maxRunning, keyValueTokens }, base));
      expect(run.steps).toHaveLength(8);
      expect(run.lag.submitted).toBeLessThanOrEqual(recipe.training.maxLag);
      expect(run.lag.max).toBeLessThanOrEqual(run.lag.submitted);
      expect(tokensOf(run) / run.sampled).toBeCloseTo(1, 6);
    }),
    { numRuns: 40 },
  );
});

describe("in the limits the time of a step is known", () => {
  test("a slow trainer: its own time", async () => {
    const machine = machineOf({ trainer: { fixed: 1000, perToken: 0, perSquaredToken: 0, between: 7 } });
    const { steps, busy } = await simulate(recipeOf(), machine);
    for (const { training } of steps) expect(training).toBeCloseTo(1000, 6);
    // some steps wait for their oldest group; the others find all groups ready
    const waits = steps.map(({ waiting }) => waiting).sort((a, b) => a - b);
    expect(waits[10]).toBeCloseTo(7, 6);
    expect(busy.trainers).toBeGreaterThan(0.97);
  });

  test("a trainer that costs nothing: groups of a step over what engines make", async () => {
    const even = {
      length: { mean: 100, cv: 0 },
      alike: 0,
      promptTokens: 20,
      keep: 0.5,
      verify: { mean: 1e-6, cv: 0 },
    };
    const machine = withActor(
      { updatePause: 0, prefillPerToken: 0, decode: { fixed: 0.1, perSequence: 0, perContextToken: 0 } },
      machineOf({
        trainer: { fixed: 0, perToken: 0, perSquaredToken: 0, between: 0 },
        domains: { math: even, code: even },
        verifierWorkers: 64,
      }),
    );
    const { secondsPerStep, running } = await simulate(recipeOf({ steps: 400, maxLag: 4 }), machine);
    // 32 sequences at a time take 10 s each; a step needs 8 / keep groups of 4
    expect(running).toBeCloseTo(16, 1);
    expect(secondsPerStep / ((8 / 0.5) * 4 * (10 / 32))).toBeGreaterThan(0.95);
    expect(secondsPerStep / ((8 / 0.5) * 4 * (10 / 32))).toBeLessThan(1.05);
  });

  test("slow verifiers: their own time", async () => {
    const slow = { ...WORKLOADS.math, verify: { mean: 10, cv: 0 }, keep: 1 };
    const machine = machineOf({ verifierWorkers: 2, domains: { math: slow, code: slow } });
    const { secondsPerStep, busy } = await simulate(recipeOf({ steps: 100 }), machine);
    expect(secondsPerStep / ((8 * 4 * 10) / 2)).toBeCloseTo(1, 1);
    expect(busy.verifiers).toBeGreaterThan(0.95);
  });
});

test("more of anything never costs time", async () => {
  const seconds = async (machine = machineOf()) => (await simulate(recipeOf({ steps: 60 }), machine)).seconds;
  const own = await seconds();
  const faster = { fixed: 0.04, perSequence: 5e-4, perContextToken: 5e-7 };
  expect(await seconds(withActor({ decode: faster }))).toBeLessThan(own);
  expect(await seconds(machineOf({ actors: 4 }))).toBeLessThan(own);
  expect(await seconds(withActor({ updatePause: 0 }))).toBeLessThan(own);
  expect(await seconds(withActor({ updatePause: 5 }))).toBeGreaterThan(own);
  const update = { bytes: 1e9, seconds: 4 };
  expect(await seconds(machineOf({ trainer: { ...machineOf().trainer, update } }))).toBeGreaterThan(own);
  expect(await seconds(withActor({ keyValueTokens: 900 }))).toBeGreaterThan(own);
  expect(await seconds(machineOf({ failures: { mtbf: 60, restart: 20 } }))).toBeGreaterThan(own);
  expect(await seconds(withActor({ speedDuringStep: 0.2 }))).toBeGreaterThan(own);
});

test("groups of a replay buffer take the trainer's time, and change nothing that is asked", async () => {
  const trainer = { fixed: 5, perToken: 0.01, perSquaredToken: 0, between: 0 };
  const run = (training: object) =>
    simulate(
      recipeOf(
        { steps: 12, schedule: "sync", maxLag: 0, ...training },
        { rollouts: { groupSize: 4, maxOutputTokens: 400, maxPromptTokens: 48, record: true } },
      ),
      machineOf({ trainer }),
    );
  const plain = await run({});
  const again = await run({ replayBuffer: { share: 0.5, maxAge: 2 } });
  const training = ({ steps }: SimulatedRun) => steps.map((step) => step.training - trainer.fixed);
  expect(again.steps.map(({ kept }) => kept)).toEqual(plain.steps.map(({ kept }) => kept));
  expect(again.rolloutsPerStep).toBe(plain.rolloutsPerStep);
  const ratio = training(again).map((seconds, i) => seconds / training(plain)[i]!);
  expect(ratio[0]).toBe(1);
  for (const one of ratio.slice(3)) expect(one).toBeGreaterThan(1.5);
  expect(plain.lag).toMatchObject({ mean: 0, max: 0 });
  expect(again.lag).toMatchObject({ max: 2, submitted: 0 });
  expect(again.lag.mean).toBeGreaterThan(0.5); // half of a step's groups are one or two versions old
});

test("a machine that knows nothing of a domain, or cannot hold an answer, is refused", async () => {
  const { code: _, ...math } = WORKLOADS;
  await expect(simulate(recipeOf(), machineOf({ domains: math }))).rejects.toThrow(
    /lengths of answers for code/,
  );
  await expect(simulate(recipeOf(), withActor({ keyValueTokens: 400 }))).rejects.toThrow(/may take 448/);
});

test("the mixture is the sampler's: shares of what completed come to their weights", async () => {
  const { mixture } = await simulate(recipeOf({ steps: 400 }), machineOf());
  expect(mixture.targets).toEqual({ math: 0.6, code: 0.4 });
  expect(mixture.mad).toBeLessThan(0.005);
  // short answers complete first
  expect(mixture.first.shares["code"]).toBeGreaterThan(0.4);
});
