import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deferred } from "../../lib/deferred.ts";
import type { WeightSource } from "../../lib/fleet/updates.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { killActor, type LocalFleet, localFleet } from "./local-fleet.ts";
import { ENGINE } from "./small-engine.ts";

let dir: string;
const open: LocalFleet[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-fleet-"));
});
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
  rmSync(dir, { recursive: true, force: true });
});

async function fleetOf(...args: Parameters<typeof localFleet>): Promise<LocalFleet> {
  const fleet = await localFleet(...args);
  open.push(fleet);
  return fleet;
}

test("the same seed gives the same weights for one process and for 1, 2 and 3 actors", async () => {
  const recipe = smallRecipe({ steps: 8, schedule: "sync" });
  const words: number[] = [];
  for (const actors of [0, 1, 2, 3]) {
    const core = standInCore();
    const fleet = actors === 0 ? undefined : await fleetOf(core, actors);
    await using run = await createRun(recipe, {
      verifiers,
      dir: join(dir, String(actors)),
      core: fleet?.fleet ?? core,
    });
    for await (const { metrics } of run) expect(metrics["lag/max"]).toBe(0);
    expect(await run.finished).toMatchObject({ reason: "done", steps: 8, version: 8 });
    words.push(core.trainers[0]!.word);
    if (actors === 3) expect(core.engines.filter((engine) => engine.stats().steps > 0)).toHaveLength(3);
  }
  expect(new Set(words).size).toBe(1);
});

// A model may take minutes to load, and actors end by a GPU that is not there within seconds.
test("an engine that is opened after the fleet has failed hears of it", async () => {
  const { fleet } = await fleetOf(standInCore(), 1);
  fleet.fail(new Error("actor 0 is given up"));
  const heard = deferred<Error>();
  const engine = fleet.engine("{}", ENGINE, { onMessage: () => {}, onError: heard.resolve });
  expect(await heard.promise).toEqual(new Error("actor 0 is given up"));
  // what a run does first; it would wait for actors for two minutes
  const source = { version: 0, state: 0 } as WeightSource;
  await expect(fleet.updates.publish("engine-0", source)).rejects.toThrow("actor 0 is given up");
  await engine.close();
});

test("a run recorded with three actors is replayed on one process to the bit", async () => {
  const { fleet } = await fleetOf(standInCore(), 3);
  {
    await using run = await createRun(smallRecipe({ steps: 12, maxLag: 2 }), { verifiers, dir, core: fleet });
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

test("actors that die in the middle lose no group, and none is trained twice", async () => {
  const local = await fleetOf(standInCore(), 2);
  const hooks = {
    afterStep: async ({ step }: { readonly step: number }) => {
      if (step % 3 !== 0) return undefined;
      const index = (step / 3) % 2;
      await killActor(local, index, local.actors[index]!);
      local.start(index);
      return undefined;
    },
  };
  const recipe = smallRecipe({ steps: 14, maxLag: 2 });
  {
    await using run = await createRun(recipe, { verifiers, dir, core: local.fleet, hooks });
    expect(await run.finished).toMatchObject({ reason: "done", steps: 14 });
  }
  const groups = readEvents(join(dir, "events.jsonl")).flatMap((e) => (e.e === "step" ? e.k : []));
  expect(groups).toHaveLength(14 * 4);
  expect(new Set(groups).size).toBe(groups.length);
  expect(await replayRun(dir, { verifiers, core: standInCore() })).toMatchObject({ weightsCompared: true });
});
