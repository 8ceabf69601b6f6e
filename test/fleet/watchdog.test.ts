import { beforeEach, expect, test } from "vitest";
import type { MemberStatus, Membership } from "../../lib/fleet/membership.ts";
import { SETTINGS } from "../../lib/fleet/names.ts";
import type { Supervisor } from "../../lib/fleet/supervisor.ts";
import { endSilent, RankWatch } from "../../lib/fleet/watchdog.ts";

let now: number;
let lost: [number, string][];
let watch: RankWatch;
beforeEach(() => {
  now = 0;
  lost = [];
  watch = new RankWatch(SETTINGS, (...what) => lost.push(what), { now: () => now });
  watch.form(2, 2);
});

type Word = { readonly epoch?: number } & Partial<NonNullable<MemberStatus["training"]>>;

const rankOf = (index: number, { epoch = 2, ...work }: Word): MemberStatus => ({
  place: `trainer.${index}`,
  index,
  generation: epoch,
  member: `trainer.${index}#${epoch}`,
  pid: 1,
  host: "a",
  engines: {},
  training: { done: 0, busy: false, cpuSeconds: 0, ...work },
});

/** Each second the ranks publish what `words` returns, and then the watchdog looks. */
function seconds(count: number, words: (second: number) => Word[]): void {
  for (let i = 0; i < count; i++) {
    now += 1000;
    watch.look(words(now / 1000).map((word, rank) => rankOf(rank, word)));
  }
}

test("a rank whose heartbeat stops is lost, once; one that never came after longer", () => {
  seconds(2, () => [{}, {}]);
  seconds(1, () => [{}]);
  expect(lost).toEqual([[1, "it was silent for 11 s"]]);
  seconds(9, () => [{}]);
  expect(lost).toHaveLength(1);
  watch.form(3, 2);
  seconds(120, () => [{ epoch: 3 }, { epoch: 2 }]);
  expect(lost).toHaveLength(1);
  seconds(1, () => [{ epoch: 3 }, { epoch: 2 }]);
  expect(lost[1]).toEqual([1, "it was silent for 121 s"]);
});
test("ranks that work are slow, however long their call takes", () => {
  seconds(600, (second) => [
    { busy: true, cpuSeconds: 0.3 * second },
    { busy: true, cpuSeconds: 0.01 * second },
  ]);
  expect(lost).toEqual([]);
});

test("ranks that wait for a call are idle, however long", () => {
  seconds(600, () => [{}, {}]);
  expect(lost).toEqual([]);
});

test("a rank that skipped a collective leaves the others waiting: none works, none gets on", () => {
  seconds(30, (second) => [{ busy: true, done: second }, { done: second }]);
  seconds(59, (second) => [
    { busy: true, done: 30, cpuSeconds: 0.04 * second },
    { done: 31, cpuSeconds: 0.02 * second },
  ]);
  expect(lost).toEqual([]);
  seconds(3, () => [{ busy: true, done: 30, cpuSeconds: 3 }, { done: 31 }]);
  expect(lost).toEqual([[0, "no rank made progress for 60 s"]]);
});

test("who falls silent is ended: actors and verifier hosts, and of ranks none", () => {
  const killed: string[] = [];
  const statuses = (["actor", "verifier", "trainer"] as const).flatMap((role) =>
    [0, 1].map((rank) => ({ role, rank, epoch: 3, startedMs: performance.now() })),
  );
  const endHung = (role: string, rank: number) => killed.push(`${role}.${rank}`) > 0;
  const lost = ["actor.1#3", "verifier.0#3", "verifier.1#2", "trainer.0#3"];
  const membership = { wasLost: (member: string) => lost.includes(member), wasSeen: () => true };
  endSilent({ statuses, endHung } as unknown as Supervisor, membership as unknown as Membership, {
    beginMs: 0,
  });
  expect(killed).toEqual(["actor.1", "verifier.0"]);
});

test("who was started and is not there in time is ended: it may keep others from writing", () => {
  const killed: string[] = [];
  const began = { early: performance.now() - 20_000, late: performance.now() - 5_000 };
  const statuses = [
    { role: "actor", rank: 0, epoch: 1, startedMs: began.early },
    { role: "actor", rank: 1, epoch: 1, startedMs: began.late },
    { role: "actor", rank: 2, epoch: 1, startedMs: began.early },
    { role: "trainer", rank: 0, epoch: 1, startedMs: began.early },
  ];
  const endHung = (role: string, rank: number) => killed.push(`${role}.${rank}`) > 0;
  const membership = { wasLost: () => false, wasSeen: (member: string) => member === "actor.2#1" };
  const settings = { beginMs: 10_000 };
  endSilent({ statuses, endHung } as unknown as Supervisor, membership as unknown as Membership, settings);
  expect(killed).toEqual(["actor.0"]);
});
