// An actor, or everything, is killed while rollouts are in progress: the recorded tokens are continued.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GenerationRequest } from "../../lib/native/face.ts";
import { type Core, createRun, replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { killActor, localFleet } from "../fleet/local-fleet.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-unfinished-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const EVERY = 5;
const VERSION = 4; // the weight version of the checkpoint from which a run resumes
const recipe = (schedule: "sync" | "async", recordEveryTokens = EVERY, everySteps = 2) =>
  smallRecipe(
    { steps: 8, schedule, maxLag: 2 },
    {
      rollouts: { groupSize: 4, maxOutputTokens: 60, maxPromptTokens: 64, recordEveryTokens },
      checkpoint: { everySteps },
    },
  );
const length = (problem: number, attempt: number) => 8 + ((problem * 7 + attempt * 13) % 50);

/** A core that records its engines' requests, and how many tokens of each attempt they sampled with which weights. */
function watchedCore() {
  const core = standInCore({ length });
  const asked: GenerationRequest[] = [];
  const sampled = new Map<GenerationRequest, number[][]>();
  const engine: Core["engine"] = (config, options, handlers) => {
    const requests = new Map<number, GenerationRequest>();
    const made = core.engine(config, options, {
      ...handlers,
      onMessage: (message) => {
        message.request.forEach((id, i) => {
          const versions = sampled.get(requests.get(id)!)!;
          versions[message.attempt[i]!]!.push(message.version[i]!);
        });
        handlers.onMessage(message);
      },
    });
    const submit = made.submit.bind(made);
    made.submit = (request) => {
      asked.push(request);
      requests.set(request.id, request);
      sampled.set(
        request,
        Array.from({ length: request.count }, () => []),
      );
      submit(request);
    };
    return made;
  };
  return { ...core, engine, asked, sampled };
}

const groupsTrained = (at: string) =>
  readEvents(join(at, "events.jsonl")).filter((e) => e.e === "group" && e.r.length > 0);

async function undisturbed(): Promise<number> {
  const core = standInCore({ length });
  await using run = await createRun(recipe("sync", 0), { verifiers, dir: join(dir, "whole"), core });
  await run.finished;
  return core.trainers[0]!.word;
}

test.each([
  ["sync", 2],
  ["async", 2],
  ["async", 0], // one checkpoint, requested by a hook
] as const)(
  "a run that ends without a word goes on with what it recorded (%s, checkpoints every %i steps)",
  async (schedule, everySteps) => {
    const first = watchedCore();
    {
      const hooks = {
        afterStep: async ({ step }: { readonly step: number }) => {
          if (step === VERSION && everySteps === 0) return "checkpoint";
          if (step !== 5) return undefined;
          for (let i = 0; i < 25; i++) await new Promise((go) => setImmediate(go));
          void run.stop({ save: false });
          return undefined;
        },
      } as const;
      await using run = await createRun(recipe(schedule, EVERY, everySteps), {
        verifiers,
        dir,
        core: first,
        hooks,
      });
      await run.finished;
    }
    const second = watchedCore();
    {
      await using run = await createRun(recipe(schedule, EVERY, everySteps), {
        verifiers,
        dir,
        core: second,
        resume: "auto",
      });
      let kept = 0;
      for await (const { metrics } of run) {
        kept += metrics["engine/taken-up-tokens"]!;
        expect(metrics["lag/max"] ?? 0).toBeLessThanOrEqual(2);
      }
      expect(await run.finished).toMatchObject({ reason: "done", steps: 8 });
      expect(kept).toBeGreaterThan(50);
    }
    let takenUp = 0;
    for (const again of second.asked) {
      const before = first.asked.find(({ id, problem }) => id === again.id && problem === again.problem);
      if (again.begun !== undefined) takenUp += again.begun.length;
      if (before === undefined || (schedule === "sync" && again.id >= 20)) continue;
      if (second.asked.indexOf(again) > 3) continue; // later weights than the checkpoint's may have sampled these
      first.sampled.get(before)!.forEach((versions, attempt) => {
        const usable = versions.filter((version) => version <= VERSION).length;
        const from = again.begun?.find((each) => each.attempt === attempt)?.tokens.length ?? 0;
        expect(usable - from, `group ${again.id}, attempt ${attempt}`).toBeLessThanOrEqual(EVERY);
        expect(from).toBeLessThanOrEqual(usable);
      });
    }
    expect(takenUp).toBeGreaterThan(4);
    if (schedule === "sync") expect(second.trainers[0]!.word).toBe(await undisturbed());
    else {
      expect(groupsTrained(dir).some((e) => "t" in e)).toBe(true);
      const replayed = await replayRun(dir, { verifiers, core: standInCore({ length }) });
      expect(replayed).toMatchObject({ steps: 8, weightsCompared: true });
    }
  },
);

test.each(["sync", "async"] as const)(
  "an actor that dies leaves what it recorded to the next (%s)",
  async (schedule) => {
    const core = watchedCore();
    const local = await localFleet(core, 2);
    try {
      const hooks = {
        afterStep: async ({ step }: { readonly step: number }) => {
          if (step !== 2 && step !== 5) return undefined;
          for (let i = 0; i < 40; i++) await new Promise((go) => setImmediate(go));
          await killActor(local, 0, local.actors[0]!);
          local.start(0);
          return undefined;
        },
      };
      await using run = await createRun(recipe(schedule), { verifiers, dir, core: local.fleet, hooks });
      let [kept, rollouts] = [0, 0];
      for await (const { metrics } of run) {
        kept += metrics["engine/taken-up-tokens"]!;
        rollouts += metrics["engine/taken-up"]!;
      }
      expect(await run.finished).toMatchObject({ reason: "done", steps: 8 });
      expect(kept).toBeGreaterThan(rollouts);
      expect(rollouts).toBeGreaterThan(0);
    } finally {
      await local.close();
    }
    const again = core.asked.filter(({ begun }) => begun !== undefined);
    expect(again.length).toBeGreaterThan(0);
    for (const request of again) {
      const earlier = core.asked.slice(0, core.asked.indexOf(request));
      const before = earlier.findLast(({ problem }) => problem === request.problem)!;
      core.sampled.get(before)!.forEach((versions, attempt) => {
        const from = request.begun!.find((each) => each.attempt === attempt)?.tokens.length ?? 0;
        expect(versions.length - from, `attempt ${attempt}`).toBeLessThanOrEqual(EVERY);
      });
    }
    const groups = readEvents(join(dir, "events.jsonl")).flatMap((e) => (e.e === "step" ? e.k : []));
    expect(new Set(groups).size).toBe(groups.length);
    if (schedule === "sync") expect(core.trainers[0]!.word).toBe(await undisturbed());
    else {
      const replayed = await replayRun(dir, { verifiers, core: standInCore({ length }) });
      expect(replayed).toMatchObject({ steps: 8, weightsCompared: true });
    }
  },
);

test("what is kept of rollouts that are over goes, and off there is no file", async () => {
  const at = join(dir, "unfinished.bin");
  {
    await using run = await createRun(recipe("async"), { verifiers, dir, core: standInCore({ length }) });
    await run.finished;
  }
  const { size } = statSync(at);
  expect(size).toBeLessThan(3 * 4 * 4 * (60 * 12 + 400)); // the rollouts of (maxLag + 1) steps
  expect(readFileSync(at)).toHaveLength(size);
  {
    const off = { verifiers, dir, core: standInCore({ length }), overwrite: true };
    await using run = await createRun(recipe("async", 0), off);
    await run.finished;
  }
  expect(() => statSync(at)).toThrow("ENOENT");
});
