import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProcessList } from "../../lib/fleet/process-list.ts";
import { type MemberStatus, NO_STATS, type Roster } from "../../lib/fleet/roster.ts";
import type { PlaceStatus } from "../../lib/fleet/supervisor.ts";
import type { Updates } from "../../lib/fleet/updates.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const actor = (
  index: number,
  stats: { version: number; running?: number; decodeTokens?: number },
): MemberStatus => ({
  place: `actor.${index}`,
  index,
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
  const roster = {
    get alive() {
      return alive();
    },
    hosts,
    wasLost: (member: string) => lost.includes(member),
  } as unknown as Roster;
  const updates = { version: () => 5, lagging: () => late ?? alive().map(({ member }) => member) };
  return new ProcessList(roster, updates as unknown as Updates);
}

test("alive, starting, silent, gone: each as supervisor and roster know it, and who came by itself", () => {
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
  const board = boardOf(() => [{ ...actor(1, { version: 5 }), member: "actor.1#3" }], [], [host(0, 0)]);
  expect(board.look()).toMatchObject([
    { name: "actor.1", restarts: 2 },
    { name: "verifier.0", restarts: 0 },
  ]);
});
