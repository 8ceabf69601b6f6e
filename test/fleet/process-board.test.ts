import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProcessBoard } from "../../lib/fleet/process-board.ts";
import { type ActorStatus, NO_STATS, type Roster } from "../../lib/fleet/roster.ts";
import type { PlaceStatus } from "../../lib/fleet/supervisor.ts";
import type { Updates } from "../../lib/fleet/updates.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const actor = (
  index: number,
  stats: { version: number; running?: number; decodeTokens?: number },
): ActorStatus => ({
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
  restarts: 0,
  ended: undefined,
  ...more,
});

function boardOf(living: () => ActorStatus[], lost: string[] = []) {
  const roster = {
    get living() {
      return living();
    },
    wasLost: (member: string) => lost.includes(member),
  } as unknown as Roster;
  const updates = { version: () => 5 } as unknown as Updates;
  return new ProcessBoard(roster, updates);
}

test("alive, starting, silent, gone: each as supervisor and roster know it, and who came by itself", () => {
  const living = [actor(0, { version: 4, running: 7 }), actor(9, { version: 5 })];
  const board = boardOf(() => living, ["actor.2#1"]);
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
