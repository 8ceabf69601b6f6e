import { expect, test } from "vitest";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { Slots } from "../../lib/simulate/slots.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";
import { withActor } from "./machines.ts";

const attemptOf = (group: number, length: number) =>
  submittedGroup(
    { ...requestOf(group, 0), attempts: 1 },
    { promptTokens: 10, lengths: [length], verify: [1], kept: true },
  ).attempts[0]!;

test("the next change is the first end, or memory that runs full; then the youngest leaves", () => {
  const slots = new Slots(withActor({ keyValueTokens: 320, maxRunning: 2 }).actor);
  expect(slots.nextChange).toBeUndefined();
  const [old, young] = [attemptOf(0, 500), attemptOf(1, 40)];
  slots.begin(old);
  expect(slots.nextChange).toBe(500);
  slots.begin(young);
  expect(slots.full).toBe(true);
  expect(slots.nextChange).toBe(40);
  slots.reach(30, 100);
  expect(slots.tokens).toBeCloseTo(60, 9);
  const ended: unknown[] = [];
  const end = (step: number) => slots.endBy(step, (attempt) => ended.push(attempt));
  expect(end(30)).toBe(false);
  slots.reach(40, 120);
  expect(end(40)).toBe(true);
  expect(ended).toEqual([young]);
  slots.begin(attemptOf(2, 900));
  expect(slots.nextChange).toBe(40 + (320 - 10 - 40 - 10) / 2);
  slots.reach(170, 300);
  expect(slots.makeRoom().map(({ group }) => group.request.group)).toEqual([2]);
  expect(slots.loseAll()).toEqual([old]);
  expect([slots.size, slots.progress.batch]).toEqual([0, 0]);
});
