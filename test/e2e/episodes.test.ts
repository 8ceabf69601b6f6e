// Tests episodes in whole runs on the real core: engine = trainer to the bit, masks, replay to the bit, the record,
// faults.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, type Recipe, type RecipeInput } from "../../lib/config/index.ts";
import type { Environment } from "../../lib/domains/index.ts";
import { evaluate } from "../../lib/evaluation/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import {
  createRun,
  nativeCore,
  openBeforeStep,
  recordedBatch,
  replayRun,
  rescoreRun,
  settleRecorded,
} from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-episodes-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Answers with its number of turns, and scores at random, so that groups are mixed. */
const talking: Environment<{ n: number; sum: number }> = {
  reset: () => ({ n: 0, sum: 0 }),
  step: (state, { text }) => {
    state.n += 1;
    for (const character of text) state.sum += character.charCodeAt(0);
    return state.sum % 5 === 0 ? { done: true } : { observation: ` ok ${state.n}: <eos> ` };
  },
  score: ({ sum }) => (sum % 2 === 0 ? 1 : 0),
};

function recipeOf(training: Partial<RecipeInput["training"]>, rest: Partial<RecipeInput> = {}): Recipe {
  const {
    warmStart: _,
    lengthPenalty: __,
    ...input
  } = tinyInput({ steps: 8, groupsPerStep: 4, ...training });
  return defineRecipe({
    ...input,
    domains: {
      math: {
        weight: 1,
        source: "procedural/math",
        environment: talking,
        episode: { maxTurns: 4, maxTurnTokens: 6 },
      },
      logic: {
        weight: 0.5,
        source: "procedural/logic",
        reward: ({ completion }) => (completion.length % 2 === 0 ? 1 : 0),
      },
    },
    lengthPenalty: { kind: "none" },
    rollouts: { groupSize: 4, maxOutputTokens: 64, maxPromptTokens: 48, record: true },
    ...rest,
  });
}

async function trained(recipe: Recipe, resume: "never" | "auto" = "never"): Promise<StepRecord[]> {
  const records: StepRecord[] = [];
  await using run = await createRun(recipe, { dir, resume });
  for await (const record of run) records.push(record);
  await run.finished;
  return records;
}

native(
  "the trainer's log-probs of an episode are the engine's to the bit, so that every ratio on policy is 1",
  async () => {
    const records = await trained(recipeOf({ schedule: "sync", steps: 3 }));
    for (const { metrics } of records) {
      expect(metrics["ratio/min"]).toBe(1);
      expect(metrics["ratio/max"]).toBe(1);
      expect(metrics["log-ratio/abs-max"]).toBe(0);
      expect(metrics["episode/turns/math"]).toBeGreaterThan(1.5);
    }
  },
  patient(60_000),
);

native(
  "an asynchronous run with weights that change between turns and within them replays to the bit",
  async () => {
    const records = await trained(recipeOf({ maxLag: 3 }));
    expect(Math.max(...records.map(({ metrics }) => metrics["versions/max"] ?? 0))).toBeGreaterThan(1);
    const { steps, weightsCompared, rollouts } = await replayRun(dir, { verifiers });
    expect({ steps, weightsCompared }).toEqual({ steps: 8, weightsCompared: true });
    expect(rollouts).toBe(8 * 4 * 4);
    // a replay does not ask the environment: a changed observation in the record changes the next turn's prompt
    const log = readFileSync(join(dir, RUN_FILES.events), "utf8");
    const changed = log.replace(/"o":\[\[(\d+),(\d+),/, (_, at, id) => `"o":[[${at},${Number(id) + 1},`);
    expect(changed).not.toBe(log);
    writeFileSync(join(dir, RUN_FILES.events), changed);
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_REPLAY" });
  },
  patient(120_000),
);

native(
  "a run stopped under way goes on with its episodes, and the whole replays",
  async () => {
    const first = recipeOf({ steps: 8 }, { checkpoint: { everySteps: 2 } });
    await using run = await createRun(first, { dir });
    for await (const { step } of run) if (step === 5) void run.stop({ save: false });
    await run.finished;
    await run[Symbol.asyncDispose]();
    await trained(first, "auto");
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 8, weightsCompared: true });
  },
  patient(120_000),
);

native(
  "what was given has no part in loss and gradient, whatever stands in its place",
  async () => {
    await trained(recipeOf({ steps: 2, maxLag: 1 }));
    await using before = await openBeforeStep(dir, 2, { core: await nativeCore() });
    const groups = settleRecorded(before.groups, before.recipe, {});
    const { data, rollouts } = recordedBatch(groups, before.recipe);
    const options = { ...before.step.trained!.objective, muonLr: 0, lr: 0 };
    const own = await before.trainer.step(data, options);
    const places = rollouts.flatMap(({ rollout: { episode, tokens } }, i) =>
      [...tokens.keys()]
        .filter((t) => episode?.given[t] === 1)
        .map((t) => data.cuSeqlens[i + 1]! - tokens.length + t),
    );
    expect(places.length).toBeGreaterThan(8);
    const noise = {
      ...data,
      behaviorLogprobs: data.behaviorLogprobs.slice(),
      tokenAdvantages: data.tokenAdvantages!.slice(),
    };
    for (const t of places) {
      expect([data.mask[t], data.behaviorLogprobs[t], own.logprobs[t]]).toEqual([0, 0, 0]);
      noise.behaviorLogprobs[t] = -3 - t;
      noise.tokenAdvantages[t] = 7;
    }
    const same = await before.trainer.step(noise, options);
    expect([same.loss, same.gradNorm]).toEqual([own.loss, own.gradNorm]);
    const all = { ...data, mask: data.mask.slice() };
    for (const t of places) all.mask[t] = 1;
    const other = await before.trainer.step(all, options);
    expect(other.gradNorm).not.toBe(own.gradNorm);
  },
  patient(60_000),
);

native(
  "explain agrees with the step and shows which tokens were given; a rescore leaves verdicts as they are",
  async () => {
    await trained(recipeOf({ steps: 2 }));
    await using before = await openBeforeStep(dir, 1, { core: await nativeCore() });
    const group = before.groups.find(({ domain, dropped }) => domain === "math" && dropped === undefined)!;
    const rollout = group.rollouts.find(({ given }) => given!.length > 0)!;
    const { settings } = await explainStep(dir, {
      step: 1,
      problem: group.problem,
      attempt: rollout.attempt,
      gradient: true,
    });
    const given = settings[0]!.tokens.filter((token) => token.given);
    expect(given.map(({ index }) => index).slice(0, 1)).toEqual([rollout.given![0]]);
    for (const token of given)
      expect([token.coefficient, token.tokenRatio, token.ratio]).toEqual([0, 1, undefined]);
    expect(settings[0]!.sequence!.tokens).toBe(settings[0]!.tokens.length - given.length);
    const { domains } = await rescoreRun(dir, { domain: "math", verifiers });
    expect(domains[0]).toMatchObject({ judged: 0, changed: 0 });
  },
  patient(60_000),
);

native(
  "an environment that fails leaves its episodes out of their groups, and never becomes a reward",
  async () => {
    let calls = 0;
    const failing: typeof talking = {
      ...talking,
      step: (state, message, call) => {
        calls += 1;
        if (calls % 7 === 0) throw new Error("down");
        return talking.step(state, message, call);
      },
    };
    const recipe = recipeOf({ steps: 3 });
    const math = { ...recipe.domains["math"]!, environment: failing } as never;
    const records = await trained(defineRecipe({ ...recipe, domains: { math } } as never));
    expect(Math.max(...records.map(({ metrics }) => metrics["verdict/unscored"]!))).toBeGreaterThan(0);
    const journal = readFileSync(join(dir, "verdicts.jsonl"), "utf8");
    expect(journal).toContain("the environment: down");
    expect(await replayRun(dir, { verifiers })).toMatchObject({ weightsCompared: true });
  },
  patient(60_000),
);

native(
  "held-out problems are played as well, validation sets in environments of their own, the same each time",
  async () => {
    const source = "procedural/logic";
    const sets = { played: { source, environment: talking, episode: { maxTurns: 2, maxTurnTokens: 4 } } };
    await using run = await createRun(recipeOf({ steps: 1 }, { evaluation: { sets } }), { dir });
    await run.finished;
    const results = [];
    for (let i = 0; i < 2; i++) {
      await using policy = await run.pin();
      const plan = { problemsPerDomain: 6, attempts: 2, temperature: 1, topP: 1 };
      results.push(await evaluate(policy, plan));
    }
    expect(results[0]).toEqual(results[1]);
    const math = results[0]!.filter(({ problem }) => problem.domain === "math");
    expect(math).toHaveLength(6);
    expect(math.flatMap(({ scores }) => scores).every((score) => score === 0 || score === 1)).toBe(true);
    expect(Math.max(...math.flatMap(({ tokens }) => tokens))).toBeLessThanOrEqual(24);
    const set = results[0]!.filter((result) => result.set === "played");
    expect(set).toHaveLength(6);
    expect(Math.max(...set.flatMap(({ tokens }) => tokens))).toBeLessThanOrEqual(8);
    expect(set.every(({ problem }) => problem.verifier === "environment:played")).toBe(true);
    const logic = results[0]!.filter(({ problem, set }) => set === undefined && problem.domain === "logic");
    expect(Math.max(...logic.flatMap(({ tokens }) => tokens))).toBeGreaterThan(8);
  },
  patient(60_000),
);
