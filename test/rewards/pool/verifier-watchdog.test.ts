import { expect, test } from "vitest";
import type { Progress } from "../../../lib/rewards/pool/verification-job.ts";
import { passedLimit, Standstills, untilNextLook } from "../../../lib/rewards/pool/verifier-watchdog.ts";

// verifier-process.test.ts shows that the watchdog ends its process, also when the parent is gone.

const MEBIBYTE = 1 << 20;
const busy = (leftMs: number): Progress => ({ job: 1, phase: "verifying", member: 0, elapsedMs: 1, leftMs });
const left = { elapsedMs: 0, leftMs: Number.POSITIVE_INFINITY };
const idle: Progress = { job: 1, phase: "idle", member: undefined, ...left };

test.each<[string, Progress, number, "expired" | "exhausted" | undefined]>([
  ["within both limits", busy(1), 100, undefined],
  ["at its limit of time", busy(0), 100, "expired"],
  ["at its limit of memory", busy(1), 100 + 1 / MEBIBYTE, "exhausted"],
  ["idle", idle, 100, undefined],
  ["that has begun nothing yet", { ...idle, leftMs: 0 }, 100, undefined],
  ["idle, with more than its memory", idle, 101, "exhausted"],
])("a process %s", (_, now, mebibytes, verdict) => {
  expect(passedLimit(now, mebibytes * MEBIBYTE, 100)).toBe(verdict);
});

test.each<[string, Progress, number, number]>([
  ["that has ended its last job", idle, 1, 1000],
  ["that has been given a job and has not begun it", idle, 2, 20],
  ["that has begun no job yet", { ...idle, job: 0 }, 1, 20],
  ["at work", busy(500), 1, 20],
  ["near its limit of time", busy(7), 1, 7],
  ["at its limit of time", busy(0), 1, 1],
])("a process %s is looked at again in time", (_, now, given, milliseconds) => {
  expect(untilNextLook(now, given)).toBe(milliseconds);
});

test("time in which the process stood still is told of the phase it fell into, and of no later one", () => {
  const standstills = new Standstills();
  expect(standstills.look(1000, 500)).toBe(0); // the first look has nothing to compare with
  expect(standstills.look(1020, 520)).toBe(0);
  expect(standstills.look(1270, 770)).toBe(0); // the look was late, but the phase ran on
  expect(standstills.look(6270, 5770)).toBe(5000);
  expect(standstills.look(6290, 5790)).toBe(5000);
  expect(standstills.look(6310, 2000)).toBe(1960); // the phase began during the standstill
  expect(standstills.look(6330, 40)).toBe(0);
  expect(standstills.look(6830, 540)).toBe(500);
  expect(standstills.look(7330, 1040)).toBe(1000);
});
