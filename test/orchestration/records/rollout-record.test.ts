import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RecipeInput } from "../../../lib/config/index.ts";
import type { TrainingBatch } from "../../../lib/native/face.ts";
import { createRun, type RunHooks } from "../../../lib/orchestration/index.ts";
import type { StepOutcome } from "../../../lib/orchestration/pipeline/index.ts";
import { decodeIds, decodeLogprobs } from "../../../lib/orchestration/records/encoded-arrays.ts";
import { readEvents } from "../../../lib/orchestration/records/event-log.ts";
import {
  cutRolloutRecord,
  noRecordOf,
  type RecordedGroup,
  type RecordedStep,
  readRolloutRecord,
  recordedSteps,
  writeRolloutRecord,
} from "../../../lib/orchestration/records/rollout-record.ts";
import type { RolloutGroup } from "../../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

// Deliberate faults (mutants) that these tests detect: prompts instead of rollouts, log-probs shifted by the prompt,
// dropped groups counted as sequences, a group's step one too late, a resume keeps records of later steps.

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-rollouts-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const recipe = (steps: number, rest: Partial<RecipeInput> = {}) => {
  const rollouts = { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64, record: true };
  return smallRecipe({ steps }, { rollouts, ...rest });
};

interface Recorded {
  readonly step: RecordedStep;
  readonly groups: readonly RecordedGroup[];
}

async function recorded(step: number, folder = dir): Promise<Recorded> {
  const lines: (RecordedStep | RecordedGroup)[] = [];
  for await (const line of readRolloutRecord(folder, step)) lines.push(line);
  const [head, ...groups] = lines;
  return { step: head as RecordedStep, groups: groups as RecordedGroup[] };
}

/** Trains the run and keeps the batches that its trainer received. */
async function runAndKeep(given: ReturnType<typeof recipe>, hooks?: RunHooks) {
  const batches: TrainingBatch[] = [];
  const told: { group: RolloutGroup; id: number; step: number }[] = [];
  const onStep = (batch: TrainingBatch) => {
    batches.push(batch);
    return {};
  };
  await using run = await createRun(given, {
    dir,
    verifiers,
    core: standInCore({ onStep }),
    ...(hooks && { hooks }),
  });
  run.on("group", (group, of) => told.push({ group, ...of }));
  const versions: number[] = [];
  for await (const { version } of run) versions.push(version);
  await run.finished;
  return { batches, told, versions };
}

test("a step's record is the batch that the trainer was given, to the bit", async () => {
  const { batches } = await runAndKeep(recipe(4));
  expect(recordedSteps(dir)).toEqual([1, 2, 3, 4]);
  let trained = 0;
  for (const n of recordedSteps(dir)) {
    const { step, groups } = await recorded(n);
    expect(groups).toHaveLength(step.groups);
    if (step.trained === undefined) continue;
    const batch = batches[trained++]!;
    const sequences = groups.flatMap((g) =>
      g.rollouts.filter((r) => r.sequence !== undefined).map((r) => ({ g, r })),
    );
    expect(sequences.map(({ r }) => r.sequence)).toEqual(sequences.map((_, i) => i));
    expect(step.trained).toMatchObject({ sequences: sequences.length, groups: batch.groups });
    for (const [i, { g, r }] of sequences.entries()) {
      const [begin, end] = [batch.cuSeqlens[i]!, batch.cuSeqlens[i + 1]!];
      const ids = decodeIds(r.tokens);
      expect([...decodeIds(g.prompt), ...ids]).toEqual([...batch.tokens.slice(begin, end)]);
      expect(decodeLogprobs(r.logprobs)).toEqual(batch.behaviorLogprobs!.slice(end - ids.length, end));
      expect(Math.fround(r.advantage!)).toBe(batch.advantages![i]);
      expect(r.weight).toBe(1 / sequences.length);
    }
  }
  expect(trained).toBe(batches.length);
  expect(trained).toBeGreaterThan(1);
});

test("rewards, verdicts, versions and what was given up are told, with group and step", async () => {
  const training = { steps: 3, groupsPerStep: 4, schedule: "async", maxLag: 2 } as const;
  const onGroup = ({ problem }: RolloutGroup) => (problem.domain === "logic" ? "drop" : undefined);
  const { told } = await runAndKeep(recipe(3, { training }), { onGroup });
  const events = readEvents(join(dir, "events.jsonl")).filter((e) => e.e === "group");
  expect(told.length).toBe(events.length);
  for (const n of recordedSteps(dir)) {
    const { groups } = await recorded(n);
    expect(groups.map(({ group }) => group)).toEqual(
      told.filter(({ step }) => step === n).map(({ id }) => id),
    );
    for (const one of groups) {
      expect(events.find(({ g }) => g === one.group)).toMatchObject({ s: n - 1 });
      const { group } = told.find(({ id }) => id === one.group)!;
      expect(one).toMatchObject({
        problem: group.problem.id,
        domain: group.problem.domain,
        solveRate: group.solveRate,
      });
      expect(one.dropped).toBe(group.dropped);
      for (const [i, { rollout, ...shaped }] of group.rollouts.entries()) {
        expect(one.rollouts[i]).toMatchObject({
          ...shaped,
          attempt: rollout.attempt,
          finish: rollout.finish,
        });
        expect(one.rollouts[i]!.versions[1]).toBe(rollout.versions[0]);
        expect(one.rollouts[i]!.sequence === undefined).toBe(group.dropped !== undefined);
      }
    }
  }
  expect(told.some(({ group }) => group.dropped !== undefined)).toBe(true);
});

test.each([
  ["gspo", "length", (n: number, s: number) => n / s],
  ["grpo", "uniform", (_: number, __: number, ___: number, groups: number) => 1 / (groups * 4)],
  ["dapo", "uniform", (n: number, _: number, total: number) => n / total],
  ["cispo", "uniform", (n: number, _: number, total: number) => n / total],
  ["dr-grpo", "uniform", (n: number, s: number) => n / (s * 24)],
  ["gmpo", "uniform", (_: number, s: number) => 1 / s],
  ["reinforce", "uniform", (n: number, s: number) => n / s],
] as const)("the weight of a sequence in %s, %s", async (kind, sequenceWeight, weight) => {
  await runAndKeep(recipe(2, { objective: { kind, sequenceWeight } }));
  const { step, groups } = await recorded(1);
  const { sequences, groups: kept } = step.trained!;
  const all = groups.flatMap((g) => g.rollouts.filter((r) => r.sequence !== undefined));
  const total = all.reduce((sum, { tokens }) => sum + decodeIds(tokens).length, 0);
  for (const { tokens, weight: said } of all)
    expect(said).toBeCloseTo(weight(decodeIds(tokens).length, sequences, total, kept), 12);
});

test("a run that goes on takes the later steps' records anew and ends with those of an uninterrupted run", async () => {
  const whole = join(dir, "whole");
  const parts = join(dir, "parts");
  const options = { verifiers, core: standInCore() };
  for (const [folder, stops] of [
    [whole, []],
    [parts, [3]],
  ] as const) {
    for (const stop of [...stops, 6]) {
      const hooks: RunHooks = { afterStep: ({ step }) => (step === stop ? "stop" : undefined) };
      await using run = await createRun(
        recipe(6, { training: { steps: 6, groupsPerStep: 4, schedule: "sync" } }),
        {
          ...options,
          core: standInCore(),
          dir: folder,
          resume: "auto",
          hooks,
        },
      );
      await run.finished;
      if (stop === 3) {
        // files of a process that was killed later, while it wrote
        writeFileSync(join(parts, "rollouts", "step-000004.jsonl"), "{}\n");
        writeFileSync(join(parts, "rollouts", "step-000005.jsonl.tmp"), "{");
      }
    }
  }
  const files = readdirSync(join(whole, "rollouts"));
  expect(files).toHaveLength(6);
  expect(readdirSync(join(parts, "rollouts"))).toEqual(files);
  for (const file of files) {
    const texts = [parts, whole].map((folder) => readFileSync(join(folder, "rollouts", file), "utf8"));
    expect(texts[0] === texts[1], file).toBe(true);
  }
});

test("without the switch nothing is written, and what an earlier session wrote of later steps goes", async () => {
  await using run = await createRun(smallRecipe({ steps: 2 }), { dir, verifiers, core: standInCore() });
  await run.finished;
  expect(existsSync(join(dir, "rollouts"))).toBe(false);
  expect(() => recordedSteps(dir)).toThrowError(expect.objectContaining({ code: "HONE_ERR_IO" }));
  cutRolloutRecord(dir, 0);
});

test("a damaged line is named", async () => {
  await runAndKeep(recipe(1));
  appendFileSync(join(dir, "rollouts", "step-000001.jsonl"), '{"torn');
  await expect(recorded(1)).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringMatching(/step-000001.jsonl:\d+/),
  });
});

test("eleven bytes a generated token, six a prompt's, and a few hundred a rollout", async () => {
  await runAndKeep(recipe(2));
  const text = readFileSync(join(dir, "rollouts", "step-000001.jsonl"), "utf8");
  const { groups } = await recorded(1);
  let tokens = 0;
  for (const { prompt, rollouts } of groups) {
    tokens += (decodeIds(prompt).length * 6) / 11;
    for (const r of rollouts) tokens += decodeIds(r.tokens).length;
  }
  const count = groups.reduce((n, { rollouts }) => n + rollouts.length, 0);
  expect(text.length).toBeLessThan(11 * tokens + 400 * count + 250 * groups.length + 800);
});

test("the last steps alone are kept where the recipe says so, also after a kill between writing and removing", async () => {
  const rollouts = { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64, record: "last:3" };
  const kept = smallRecipe({ steps: 7 }, { rollouts });
  await runAndKeep(kept);
  expect(recordedSteps(dir)).toEqual([5, 6, 7]);
  // files of a killed process: a record that it was about to remove, and a partial one
  appendFileSync(join(dir, "rollouts", "step-000001.jsonl"), "");
  appendFileSync(join(dir, "rollouts", "step-000008.jsonl.tmp"), "");
  const nothing = { groups: [] } as unknown as StepOutcome["batch"];
  const timing = { total: 1, waiting: 0 };
  writeRolloutRecord(dir, kept, { step: 7, version: 7, versionBefore: 7, batch: nothing, timing });
  cutRolloutRecord(dir, 8);
  expect(readdirSync(join(dir, "rollouts")).sort()).toEqual(
    [6, 7, 8].map((step) => `step-00000${step}.jsonl`),
  );
  const error = noRecordOf(dir, 2, recordedSteps(dir), "step 2");
  expect(error.message).toBe(
    `step 2 is not in the record of ${dir}, and was removed: rollouts.record is "last:3" (it has 3 between 6 and 8)`,
  );
  expect(noRecordOf(dir, 9, [6, 7, 8], "step 9").message).not.toContain("removed");
});
