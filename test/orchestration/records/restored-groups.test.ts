import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RecipeInput } from "../../../lib/config/index.ts";
import { createRun } from "../../../lib/orchestration/index.ts";
import type { SettledGroup, StepOutcome } from "../../../lib/orchestration/pipeline/index.ts";
import { restoredBuffer, restoredGroup } from "../../../lib/orchestration/records/restored-groups.ts";
import {
  type RecordedGroup,
  readRolloutRecord,
  writeRolloutRecord,
} from "../../../lib/orchestration/records/rollout-record.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-restored-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const recipe = (maxAge: number, rest: Partial<RecipeInput> = {}) =>
  smallRecipe(
    { steps: 5, replayBuffer: { share: 0.5, maxAge } },
    {
      rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64, record: true },
      checkpoint: { everySteps: 2 },
      ...rest,
    },
  );

/** @param skipped the step's update was skipped because it was not finite */
function write(
  step: number,
  groups: readonly SettledGroup[],
  { skipped = false, trained = true } = {},
): void {
  const rollouts = groups.flatMap(({ group }) => (group.dropped === undefined ? group.rollouts : []));
  const lengths = rollouts.map(({ rollout: r }) => r.promptTokens.length + r.tokens.length);
  const cuSeqlens = Int32Array.from([
    0,
    ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b)),
  ]);
  const data = {
    cuSeqlens,
    groups: 1,
    sequences: 2,
    drGrpoNormalizer: 24,
    groupSizes: new Int32Array(9).fill(2),
  };
  const report = { trainedTokens: 8, loss: 1, gradNorm: 1, skipped, divergences: new Float32Array(0) };
  const update = { data, rollouts, report, learningRate: 1, entropyCoef: 0 };
  const outcome = { step: step - 1, version: step, versionBefore: step - 1, batch: { groups, credits: 0 } };
  writeRolloutRecord(dir, recipe(2), { ...outcome, ...(trained && { update }) } as unknown as StepOutcome);
}

async function lines(step: number): Promise<RecordedGroup[]> {
  const groups: RecordedGroup[] = [];
  for await (const line of readRolloutRecord(dir, step)) if ("rollouts" in line) groups.push(line);
  return groups;
}

const group = (number: number) =>
  settledOf(number, [rolloutOf([1], [5, 2], 1.25), rolloutOf([1, 3], [6, 2], -0.75)]);

test("a group is what it was: tokens, log-probs, versions, rewards and advantages", async () => {
  write(1, [group(3)]);
  const [recorded] = await lines(1);
  const restored = restoredGroup(recorded!, recipe(2));
  const was = group(3);
  expect(
    restored.group.rollouts.map(({ reward, advantage, verdict }) => ({ reward, advantage, verdict })),
  ).toEqual(was.group.rollouts.map(({ reward, advantage, verdict }) => ({ reward, advantage, verdict })));
  for (const [i, { rollout }] of restored.group.rollouts.entries()) {
    const { tokens, logprobs, versions, attempt, finish } = was.group.rollouts[i]!.rollout;
    expect(rollout).toMatchObject({ tokens, logprobs, versions, attempt, finish });
    expect(restored.rollouts[i]).toBe(rollout);
    expect(restored.lines.get(rollout)).toBe(recorded!.rollouts[i]);
  }
  expect(restored.group.solveRate).toBe(was.group.solveRate);
  expect(restored.request).toMatchObject({ group: 3, domain: was.request.domain });
  expect(restored.group.dropped).toBeUndefined();
});

test("one without a verdict stays out of the group, and keeps its place among the rollouts", async () => {
  write(1, [group(3)]);
  const [recorded] = await lines(1);
  const [one, two] = recorded!.rollouts;
  const { reward: _, penalty: __, penaltyScale: ___, advantage: ____, ...bare } = two!;
  const lost = { ...bare, verdict: { status: "unscored", cause: "lost" } as const };
  const restored = restoredGroup({ ...recorded!, rollouts: [one!, lost] }, recipe(2));
  expect(restored.rollouts).toHaveLength(2);
  expect(restored.group.rollouts).toHaveLength(1);
  expect(restored.unscored).toEqual([two!.attempt]);
});

test("routes are restored where the recipe replays them, and asked for where the record has none", async () => {
  const replaying = recipe(2, { objective: { router: { replay: true } } });
  const [one, two] = [rolloutOf([1], [5, 2], 1.25), rolloutOf([1, 3], [6, 2], -0.75)];
  const bytes = Uint8Array.from({ length: 3 * (one.rollout.promptTokens.length + 1) }, (_, i) => i);
  const of = (routes: Uint8Array | undefined) =>
    settledOf(
      3,
      [one, two].map((scored) => ({
        ...scored,
        rollout: { ...scored.rollout, ...(routes && { routes: { width: 3, bytes: routes } }) },
      })),
    );
  write(1, [of(bytes)]);
  write(2, [of(undefined)]);
  const [[withRoutes], [without]] = [await lines(1), await lines(2)];
  expect(restoredGroup(withRoutes!, replaying).rollouts[0]!.routes).toEqual({ width: 3, bytes });
  expect(restoredGroup(withRoutes!, recipe(2)).rollouts[0]!.routes).toBeUndefined();
  expect(without!.rollouts[0]!.routes).toBeUndefined();
  expect(() => restoredGroup(without!, replaying)).toThrow(
    /objective.router.replay is true; the record has no routes of .* attempt/,
  );
});

test("a buffer has the kept groups of the last steps, without those of a skipped update or a step that trained nothing", async () => {
  write(1, [group(0)]);
  write(2, [group(1), settledOf(2, [rolloutOf([1], [2], 0)], "zero-advantage")]);
  write(3, [group(4)], { skipped: true });
  write(4, [group(5)], { trained: false });
  write(5, [group(6), group(7)]);
  const of = async (maxAge: number, steps: number) =>
    (await restoredBuffer(dir, recipe(maxAge), steps)).groups.map(({ first, request }) => [
      first,
      request.group,
    ]);
  expect(await of(4, 5)).toEqual([
    [1, 1],
    [4, 6],
    [4, 7],
  ]);
  expect(await of(1, 5)).toEqual([
    [4, 6],
    [4, 7],
  ]);
  expect(await of(9, 2)).toEqual([
    [0, 0],
    [1, 1],
  ]);
  expect(await of(9, 0)).toEqual([]);
  await expect(of(2, 6)).rejects.toThrow("has no rollout record of step 6");
  await expect(of(2, 6)).rejects.toMatchObject({
    code: "HONE_ERR_CHECKPOINT",
    details: { step: 6, steps: 6 },
  });
});

test("what a step trained again is not put into the buffer a second time", async () => {
  await using run = await createRun(recipe(2), { dir, core: standInCore(), verifiers });
  await run.finished;
  const all = (await Promise.all([1, 2, 3, 4, 5].map(lines))).flat();
  const again = all.filter(({ first }) => first !== undefined);
  expect(again.length).toBeGreaterThan(0);
  const buffer = await restoredBuffer(dir, recipe(5), 5);
  const kept = all.filter(({ first, dropped }) => first === undefined && dropped === undefined);
  expect(buffer.groups.map(({ request }) => request.group)).toEqual(kept.map((one) => one.group));
});
