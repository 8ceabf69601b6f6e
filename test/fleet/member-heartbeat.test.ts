import { afterEach, expect, test, vi } from "vitest";
import { MemberHeartbeat } from "../../lib/fleet/member-heartbeat.ts";
import { REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import { Roster } from "../../lib/fleet/roster.ts";
import { openStore } from "../../lib/streams/index.ts";
import { until } from "./small-engine.ts";

const settings = { ...SETTINGS, beatMs: 10, aliveMs: 5_000 };
afterEach(() => void vi.restoreAllMocks());

test("what a process shows is what others see, as long as it shows it", async () => {
  await using store = await openStore("memory:", { run: "test" });
  let judged = 3;
  const word = () => ({ engines: {}, judging: { jobs: 1, judged } });
  const life = new MemberHeartbeat(
    "verifier",
    { store, index: 4, generation: 2, host: "far" },
    settings,
    word,
  );
  const failures: unknown[] = [];
  await life.begin((error) => failures.push(error));
  const roster = new Roster(store, settings);
  const seen = async () => {
    await roster.look();
    return roster.hosts[0];
  };
  expect(await seen()).toMatchObject({ member: "verifier.4#2", index: 4, pid: process.pid, host: "far" });
  expect(roster.alive, "it is no actor").toEqual([]);
  judged = 8;
  await until(async () => (await seen())?.judging?.judged === 8, "a later word");
  life.close();
  expect(failures).toEqual([]);
});

test("who finds its place taken, or was silent for too long, does nothing more", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const life = new MemberHeartbeat("actor", { store, index: 0, generation: 1 }, settings, () => ({
    engines: {},
  }));
  const failures: unknown[] = [];
  await life.begin((error) => failures.push(error));
  life.expectAlive();
  await store.kv.delete(REGISTERS.beat("actor.0"));
  await store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#2", 60_000);
  await until(() => failures.length > 0, "the end");
  expect(failures[0]).toMatchObject({
    code: "HONE_ERR_STATE",
    message: expect.stringMatching(/^actor.0#1: /),
  });
  life.close();
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + settings.aliveMs + 60_000);
  expect(() => life.expectAlive()).toThrow("was replaced");
});
