import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { readHistory } from "../../lib/orchestration/records/run-history.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { runOrKill } from "./killed-run.ts";
import { noAddon } from "./native-core.ts";
import { metricsOf, recordedGroups } from "./run-files.ts";
import { tinyInput } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-replay-buffer-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const buffer = { share: 0.5, maxAge: 2 };

/** Trains to the end, or until its process has printed `lastLine` and killed itself. @returns its last line */
async function train(
  name: string,
  training: Partial<RecipeInput["training"]>,
  { more = {}, lastLine = "" }: { readonly more?: Partial<RecipeInput>; readonly lastLine?: string } = {},
): Promise<string> {
  const dir = join(root, name);
  const recipe: Partial<RecipeInput> = {
    rollouts: { ...tinyInput().rollouts, record: "last:8" },
    checkpoint: { everySteps: 2, keepLast: 3 },
    objective: { entropyCoef: 0.05, correction: { kind: "tis", high: 2 } },
    ...more,
  };
  return runOrKill(dir, training, recipe, lastLine);
}

const historyOf = (name: string) => readHistory(readEvents(join(root, name, "events.jsonl"))).steps;

describe.skipIf(noAddon !== undefined)("a run that trains groups again", () => {
  const sync = { steps: 7, groupsPerStep: 6, schedule: "sync", replayBuffer: buffer } as const;
  let straight: Promise<string> | undefined;
  const trainStraight = () => (straight ??= train("straight", sync));

  test(
    "asks the same problems, trains more, and counts every completion once",
    async () => {
      const { replayBuffer: _, ...plain } = sync;
      const without = await train("plain", plain);
      expect(await trainStraight()).not.toBe(without);
      const drawnBy = (name: string) =>
        readEvents(join(root, name, "events.jsonl")).flatMap((event) =>
          event.e === "submit" ? [event.i] : [],
        );
      expect(drawnBy("straight")).toEqual(drawnBy("plain"));
      const steps = historyOf("straight");
      const first = new Map(steps.flatMap(({ event }) => event.k.map((group) => [group, event.s] as const)));
      expect(first.size).toBe(steps.flatMap(({ event }) => event.k).length); // each group is fresh once
      const metrics = metricsOf(join(root, "straight"));
      for (const [i, { event }] of steps.entries()) {
        const { b = [], k, s } = event;
        const ages = b.map((group) => s - first.get(group)!);
        expect(ages.every((age) => age >= 1 && age <= 2)).toBe(true);
        const here = [1, 2].reduce((n, age) => n + (steps[i - age]?.event.k.length ?? 0), 0);
        expect(b).toHaveLength(Math.min(k.length, here));
        const own = metrics[i]!;
        if (k.length === 0) continue;
        expect(own["replayed/groups"]).toBe(b.length);
        expect(own["replayed/share"]).toBe(b.length / (b.length + k.length));
        expect(own["replayed/age-max"]).toBe(ages.length > 0 ? Math.max(...ages) : undefined);
        expect(own["lag/max"]).toBe(ages.length > 0 ? Math.max(...ages) : 0);
        expect(own["trained/sequences"]).toBe(4 * (b.length + k.length));
      }
      const replayed = steps.flatMap(({ event }) => event.b ?? []);
      expect(replayed.length).toBeGreaterThan(4);
    },
    patient(120_000),
  );

  test(
    "killed by SIGKILL after a step, and after a checkpoint, it goes on as the run that nothing ended",
    async () => {
      const whole = await trainStraight();
      for (const lastLine of ["step 5", "checkpoint 4"]) {
        const name = `killed ${lastLine}`;
        await train(name, sync, { lastLine });
        expect(await train(name, sync)).toBe(whole);
        expect(historyOf(name).map(({ event }) => event.b)).toEqual(
          historyOf("straight").map(({ event }) => event.b),
        );
        expect(await replayRun(join(root, name), { verifiers })).toMatchObject({
          steps: 7,
          weightsCompared: true,
        });
      }
    },
    patient(240_000),
  );

  test(
    "asynchronous, batch-wide advantages, several updates, killed: it replays to the bit, and no group is too old",
    async () => {
      const training = { steps: 8, groupsPerStep: 4, maxLag: 2, updatesPerBatch: 2, replayBuffer: buffer };
      const advantages = { baseline: "batch-mean", divideBy: "batch-std" } as const;
      const more = { advantages, rollouts: { ...tinyInput().rollouts, record: true } };
      await train("async", training, { more, lastLine: "step 5" });
      await train("async", training, { more });
      expect(await replayRun(join(root, "async"), { verifiers })).toMatchObject({
        steps: 8,
        weightsCompared: true,
      });
      for (const metrics of metricsOf(join(root, "async")))
        expect(metrics["lag/max"]).toBeLessThanOrEqual(2 + 2);
    },
    patient(240_000),
  );

  test(
    "the record has what a step trained again, with the rewards and advantages of its first step, and it is explained",
    async () => {
      const dir = join(root, "async");
      const again = (await recordedGroups(join(root, "async"), 7)).filter(({ first }) => first !== undefined);
      expect(again.length).toBeGreaterThan(0);
      for (const { first, ...group } of again) {
        const then = (await recordedGroups(join(root, "async"), first!)).find(
          (one) => one.group === group.group,
        )!;
        const plain = ({
          attempt,
          tokens,
          logprobs,
          versions,
          reward,
          advantage,
        }: (typeof group.rollouts)[0]) => ({ attempt, tokens, logprobs, versions, reward, advantage });
        expect(group.rollouts.map(plain)).toEqual(then.rollouts.map(plain));
      }
      const { problem, rollouts, first } = again[0]!;
      const explained = await explainStep(dir, {
        step: 7,
        problem,
        attempt: rollouts[0]!.attempt,
        set: ["objective.correction.kind=none", "objective.correction.high=1"],
      });
      expect(explained.first).toBe(first);
      expect(explained.settings[0]!.sequence).toBeDefined();
      expect(explained.settings[0]!.reward!.advantage).toBe(rollouts[0]!.advantage);
      expect(explained.settings[1]!.reward!.advantage).toBe(rollouts[0]!.advantage);
    },
    patient(120_000),
  );

  test(
    "may begin and end with a changed recipe: from recorded steps; without their record the run says what is missing",
    async () => {
      const { replayBuffer: _, ...off } = { ...sync, steps: 3 };
      await train("changed", off);
      const wider = { ...sync, steps: 5, replayBuffer: { share: 0.5, maxAge: 3 } };
      await train("changed", wider);
      await train("changed", { ...off, steps: 7 });
      const replays = historyOf("changed").map(({ event }) => (event.b ?? []).length > 0);
      expect(replays).toEqual([false, false, false, true, true, false, false]);
      expect(await replayRun(join(root, "changed"), { verifiers })).toMatchObject({
        steps: 7,
        weightsCompared: true,
      });
      rmSync(join(root, "changed", "rollouts", "step-000006.jsonl"));
      await expect(train("changed", { ...sync, steps: 9 })).rejects.toThrow("no rollout record of step 6");
    },
    patient(240_000),
  );

  test("a log that tells of other groups does not replay", async () => {
    const path = join(root, "async", "events.jsonl");
    const text = readFileSync(path, "utf8");
    const event = historyOf("async").find(({ event: { b } }) => b !== undefined)!.event;
    const others = JSON.stringify({ ...event, b: event.b!.slice(1) });
    writeFileSync(path, text.replace(JSON.stringify(event), others));
    await expect(replayRun(join(root, "async"), { verifiers })).rejects.toThrow("trained groups");
  });
});
