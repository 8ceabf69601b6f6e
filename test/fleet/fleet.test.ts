import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ProcessList } from "../../lib/fleet/fleet.ts";
import { type MemberStatus, type Membership, NO_STATS } from "../../lib/fleet/membership.ts";
import type { PublishedVersions, WeightSource } from "../../lib/fleet/published.ts";
import type { PlaceStatus } from "../../lib/fleet/supervisor.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
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

// A model may take minutes to load, but actors fail within seconds if their GPU does not exist.
test("an engine that is opened after the fleet has failed hears of it", async () => {
  const { fleet } = await fleetOf(standInCore(), 1);
  fleet.fail(new Error("actor 0 is given up"));
  const heard = deferred<Error>();
  const engine = fleet.engine("{}", ENGINE, { onMessage: () => {}, onError: heard.resolve });
  expect(await heard.promise).toEqual(new Error("actor 0 is given up"));
  // a run publishes first, and would otherwise wait two minutes for actors
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

const actor = (
  index: number,
  stats: { version: number; running?: number; decodeTokens?: number },
): MemberStatus => ({
  place: `actor.${index}`,
  index,
  generation: 1,
  member: `actor.${index}#1`,
  pid: 100 + index,
  host: "here",
  engines: { "engine-0": { ...NO_STATS, ...stats } },
});
const place = (rank: number, more: Partial<PlaceStatus> = {}): PlaceStatus => ({
  role: "actor",
  rank,
  epoch: 1,
  pid: 100 + rank,
  startedMs: 0,
  restarts: 0,
  ended: undefined,
  ...more,
});

const host = (index: number, jobs: number): MemberStatus => ({
  place: `verifier.${index}`,
  index,
  generation: 1,
  member: `verifier.${index}#1`,
  pid: 200 + index,
  host: "here",
  engines: {},
  judging: { jobs, judged: 9 },
});

function boardOf(
  alive: () => MemberStatus[],
  lost: string[] = [],
  hosts: MemberStatus[] = [],
  late?: string[],
) {
  const membership = {
    get alive() {
      return alive();
    },
    hosts,
    ranks: [],
    wasLost: (member: string) => lost.includes(member),
  } as unknown as Membership;
  const published = { version: () => 5, lagging: () => late ?? alive().map(({ member }) => member) };
  return new ProcessList(membership, published as unknown as PublishedVersions);
}

describe("the processes, for people", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("alive, starting, silent, gone: each as supervisor and membership know it, and who came by itself", () => {
    const alive = [actor(0, { version: 4, running: 7 }), actor(9, { version: 5 })];
    const board = boardOf(() => alive, ["actor.2#1"]);
    const ended = { atMs: 1, how: "by SIGKILL", words: "" };
    board.places = () => [
      place(0),
      place(1),
      place(2),
      place(3, { pid: undefined, restarts: 2, ended }),
      place(0, { role: "trainer" }),
    ];
    expect(board.look()).toMatchObject([
      { name: "actor.0", state: "alive", pid: 100, version: 4, lag: 1, doing: "samples 7" },
      { name: "actor.1", state: "starting" },
      { name: "actor.2", state: "silent" },
      { name: "actor.3", state: "gone", restarts: 2, ended },
      { name: "trainer.0", state: "alive" },
      { name: "actor.9", state: "alive", lag: 0, doing: "waits for requests" },
    ]);
  });

  test("verifier hosts are told like actors, without weights and tokens", () => {
    const board = boardOf(() => [], ["verifier.2#1"], [host(0, 3), host(5, 0)]);
    board.places = () => [0, 1, 2].map((rank) => place(rank, { role: "verifier" }));
    const rows = board.look();
    expect(rows).toMatchObject([
      { name: "verifier.0", state: "alive", doing: "judges in 3 workers, 9 judged" },
      { name: "verifier.1", state: "starting" },
      { name: "verifier.2", state: "silent" },
      { name: "verifier.5", state: "alive", pid: 205, doing: "waits for completions, 9 judged" },
    ]);
    for (const row of rows) expect(row.version ?? row.tokensPerSecond).toBeUndefined();
  });

  test("tokens a second are those of the last five seconds", () => {
    let tokens = 0;
    const board = boardOf(() => [actor(0, { version: 3, decodeTokens: tokens })]);
    const rate = () => board.look()[0]!.tokensPerSecond;
    expect(rate()).toBe(0);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(1000);
      tokens += 200;
      expect(rate()).toBeCloseTo(200);
    }
    for (let i = 0; i < 6; i++) {
      vi.advanceTimersByTime(1000);
      rate();
    }
    expect(rate()).toBe(0);
    expect(board.look()[0]!.doing).toBe("waits for weights");
  });

  test("an actor that was told of the current weights does not lag, though its last word is of those before", () => {
    const board = boardOf(() => [actor(0, { version: 3 }), actor(1, { version: 3 })], [], [], ["actor.0#1"]);
    expect(board.look().map(({ version, lag, doing }) => [version, lag, doing])).toEqual([
      [3, 2, "waits for weights"],
      [5, 0, "waits for requests"],
    ]);
  });

  test("of an agent's processes it is told how many were in their place before", () => {
    const board = boardOf(
      () => [{ ...actor(1, { version: 5 }), member: "actor.1#3", generation: 3 }],
      [],
      [host(0, 0)],
    );
    expect(board.look()).toMatchObject([
      { name: "actor.1", restarts: 2 },
      { name: "verifier.0", restarts: 0 },
    ]);
  });
});
