import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Core, createRun, type RunHooks, replayRun } from "../../../lib/orchestration/index.ts";
import { readEvents } from "../../../lib/orchestration/records/event-log.ts";
import type { GroupEvent } from "../../../lib/orchestration/records/index.ts";
import { readHistory } from "../../../lib/orchestration/records/run-history.ts";
import type { RolloutGroup } from "../../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-replay-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a replay of an asynchronous run reproduces every rollout and the weights", async () => {
  const core = standInCore();
  {
    await using run = await createRun(smallRecipe({ steps: 12, maxLag: 2 }), { verifiers, dir, core });
    await run.finished;
  }
  const mixed = readEvents(join(dir, "events.jsonl")).some(
    (e) => e.e === "group" && e.r.some((r) => r.length > 5),
  );
  expect(mixed, "no rollout saw two weight versions: the replay would prove nothing").toBe(true);
  expect(await replayRun(dir, { verifiers, core: standInCore() })).toMatchObject({
    steps: 12,
    rollouts: 192,
    weightsCompared: true,
  });
});

test("a replay names the first rollout that came out differently", async () => {
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
    await run.finished;
  }
  const log = join(dir, "events.jsonl");
  const lines = readFileSync(log, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"e":"group"') && line.includes('"g":5'));
  const group = JSON.parse(lines[at]!) as { r: [number, number, string][] };
  group.r[2]![2] = "0123456789abcdef";
  lines[at] = JSON.stringify(group);
  writeFileSync(log, lines.join("\n"));
  await expect(replayRun(dir, { verifiers, core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_REPLAY",
    details: { group: 5, attempt: 2 },
  });
});

test("a run that went on by another recipe is replayed by each of them in its turn", async () => {
  const lr = (value: number, steps: number) =>
    smallRecipe({ steps }, { optimizer: { lr: value, warmupSteps: 0 } });
  for (const [recipe, resume] of [
    [lr(1e-3, 4), "never"],
    [lr(5e-3, 8), "auto"],
    [lr(5e-3, 10), "auto"],
  ] as const) {
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore(), resume });
    await run.finished;
  }
  const verdict = await replayRun(dir, { verifiers, core: standInCore() });
  expect(verdict).toMatchObject({ steps: 10, rollouts: 160, weightsCompared: true });
});

test("a log without steps is no success", async () => {
  {
    const signal = AbortSignal.abort();
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore(), signal });
    await run.finished;
  }
  writeFileSync(join(dir, "events.jsonl"), "");
  await expect(replayRun(dir, { verifiers, core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_REPLAY",
    message: expect.stringContaining("records no step"),
  });
});

test("a log that was altered is refused by name instead of being waited for", async () => {
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
    await run.finished;
  }
  const log = join(dir, "events.jsonl");
  const text = readFileSync(log, "utf8");
  writeFileSync(log, text.replace(/("r":\[\[0,\d+,"\w+"),0,0/, "$1,0,77"));
  await expect(replayRun(dir, { verifiers, core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_FORMAT",
    message: expect.stringMatching(/group \d+ has rollouts that no run up to version/),
  });
});

/**
 * Wraps the core. At each training step `late` collects the groups that start with the version being replaced and
 * that the engine has not received.
 */
function requestsBehind(core: Core, started: ReadonlyMap<number, number>, late: number[]): Core {
  const submitted = new Set<number>();
  const engine: Core["engine"] = (...args) => {
    const made = core.engine(...args);
    const submit = made.submit.bind(made);
    made.submit = (request) => {
      submitted.add(request.id);
      submit(request);
    };
    return made;
  };
  const trainer: Core["trainer"] = (...args) => {
    const made = core.trainer(...args);
    const step = made.step.bind(made);
    made.step = (...batch) => {
      for (const [group, version] of started)
        if (version === made.version && !submitted.has(group)) late.push(group);
      return step(...batch);
    };
    return made;
  };
  return { info: core.info, engine, trainer };
}

test("when a replayed step begins, the engine has every request that needs the weights before it", async () => {
  // While one long group runs, groups of the next steps complete, so that those steps train at once.
  const length = (problem: number) => (problem % 5 === 0 ? 24 : 2);
  {
    const recipe = smallRecipe(
      { steps: 16, maxLag: 3 },
      { advantages: { filter: "none", divideBy: "none" } },
    );
    await using run = await createRun(recipe, { verifiers, dir, core: standInCore({ length }) });
    await run.finished;
  }
  const taken = readHistory(readEvents(join(dir, "events.jsonl"))).steps.flatMap(({ groups }) => groups);
  const started = new Map(taken.map(({ g, r }) => [g, r[0]![4]!]));
  const late: number[] = [];
  await replayRun(dir, { verifiers, core: requestsBehind(standInCore({ length }), started, late) });
  expect(late).toEqual([]);
});

/** Judges at random: right, wrong, half right, or unscored. */
const dice: typeof verifiers = {
  stats: () => ({}),
  verify: async (group) =>
    group.map(() => {
      const chance = Math.random();
      if (chance < 0.25) return { status: "unscored", cause: "the judge was out" };
      if (chance < 0.5) return { status: "correct", score: 1, reason: "" };
      return chance < 0.75
        ? { status: "partial", score: chance / 2, reason: "" }
        : { status: "wrong", score: 0, reason: "verification took over 50 ms" };
    }),
};

test("verdicts come from the record: a verifier that judges by chance replays, and is not asked", async () => {
  {
    await using run = await createRun(smallRecipe({ steps: 8 }), {
      verifiers: dice,
      dir,
      core: standInCore(),
    });
    await run.finished;
  }
  const verify = () => Promise.reject(new Error("asked"));
  const nobody = { verify, stats: () => ({}) };
  const verdict = await replayRun(dir, { verifiers: nobody, core: standInCore() });
  expect(verdict).toMatchObject({ steps: 8, weightsCompared: true });
});

const random = ({ rollouts }: RolloutGroup) => rollouts.map(() => Math.random());
const HOOKS: readonly (readonly [string, RunHooks])[] = [
  ["rewards", { onGroup: (group) => ({ rewards: random(group) }) }],
  ["advantages", { onBatch: (groups) => groups.map(random) }],
];

test.each(HOOKS)("%s that a hook put in place of the recipe's are trained on again", async (_, hooks) => {
  {
    const options = { verifiers, dir, core: standInCore(), hooks };
    await using run = await createRun(smallRecipe({ steps: 6 }), options);
    await run.finished;
  }
  const verdict = await replayRun(dir, { verifiers, core: standInCore() });
  expect(verdict).toMatchObject({ steps: 6, weightsCompared: true });
});

test("a group that was trained on and would be left out here is named", async () => {
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore() });
    await run.finished;
  }
  const log = join(dir, "events.jsonl");
  const lines = readFileSync(log, "utf8").split("\n");
  const kept = readEvents(log).find((e) => e.e === "group" && e.x === undefined) as GroupEvent;
  const at = lines.findIndex((line) => line.startsWith('{"e":"group"') && JSON.parse(line).g === kept.g);
  lines[at] = JSON.stringify({ ...kept, j: kept.j!.map(() => null) });
  writeFileSync(log, lines.join("\n"));
  await expect(replayRun(dir, { verifiers, core: standInCore() })).rejects.toMatchObject({
    code: "HONE_ERR_REPLAY",
    details: { group: kept.g },
    message: expect.stringMatching(/was kept in the run, unscored here$/),
  });
});
