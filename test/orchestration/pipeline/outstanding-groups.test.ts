import fc from "fast-check";
import { expect, test } from "vitest";
import { OutstandingGroups, submission } from "../../../lib/orchestration/pipeline/outstanding-groups.ts";
import { requestOf } from "../pipeline-accounting.ts";

function groupsOf(versions: readonly number[]): OutstandingGroups {
  const outstanding = new OutstandingGroups();
  versions.forEach((v, group) => {
    outstanding.add(requestOf(group, v));
  });
  return outstanding;
}
const due = (versions: readonly number[], version: number, maxLag: number, p: number) =>
  [...groupsOf(versions).due(version, maxLag, p)].map((t) => t.group);

test("a group is due when the next step would be too late for it", () => {
  expect(due([0, 0, 1, 1], 1, 1, 2)).toEqual([0, 1]);
  expect(due([0, 0, 0, 0], 0, 1, 2)).toEqual([0, 1]); // two steps of two groups each train all four in time
  expect(due([0, 1, 1], 1, 2, 2)).toEqual([]);
  expect(due([3], 3, 0, 1)).toEqual([0]);
});

test("groups that would pile up on a later step are due before", () => {
  // lag 2, P = 2: five groups of version 0 at version 1; the step at version 2 takes two, so three are due now
  expect(due([0, 0, 0, 0, 0], 1, 2, 2)).toEqual([0, 1, 2]);
});

test("groups that were taken up stand in any order of age: the oldest are due, and no more than a step takes", () => {
  expect(due([5, 5, 5, 4, 5, 5, 5, 5], 5, 1, 4)).toEqual([3, 0, 1, 2]);
  expect(due([2, 1, 2, 1], 2, 1, 2)).toEqual([1, 3]);
});

/**
 * Groups complete in an adversarial order. With at most P (maxLag + 1) outstanding, and credits returned after each
 * step, no trained group is older than maxLag and no step must take more than P. Deliberate faults (mutants) that
 * these tests detect: stepsLeft without + maxLag; due = count of version <= v - maxLag only.
 */
test("whatever completes first, no group trains too old and no step overflows", () => {
  const plan = fc.record({
    p: fc.integer({ min: 1, max: 5 }),
    maxLag: fc.integer({ min: 0, max: 4 }),
    choices: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
  });
  fc.assert(
    fc.property(plan, ({ p, maxLag, choices }) => {
      const outstanding = new OutstandingGroups();
      let group = 0;
      const fill = (version: number) => {
        while (outstanding.size < p * (maxLag + 1)) outstanding.add(requestOf(group++, version));
      };
      fill(0);
      for (let version = 0; version < 12; version++) {
        const must = [...outstanding.due(version, maxLag, p)];
        const numbers = must.map(({ group }) => group);
        for (const n of [0, 1, must.length])
          expect(outstanding.firstDue(version, maxLag, p, new Set(numbers.slice(0, n)))).toBe(numbers[n]);
        expect(must.length).toBeLessThanOrEqual(p);
        const taken = [...must];
        const others = [...outstanding].map((one) => one.request).filter((r) => !must.includes(r));
        while (taken.length < p)
          taken.push(...others.splice(choices[(version * 5 + taken.length) % 60]! % others.length, 1));
        for (const { group: g, submittedVersion } of taken) {
          expect(version - submittedVersion).toBeLessThanOrEqual(maxLag);
          outstanding.remove(g);
        }
        fill(version + 1);
      }
    }),
  );
});

test("counts attempts with and without a verdict, and saves what to draw again", () => {
  const outstanding = new OutstandingGroups();
  const [four, five] = [requestOf(4, 0), requestOf(5, 0)];
  outstanding.add(four);
  outstanding.add(five);
  expect(outstanding.attempts).toEqual({ inFlight: 8, completed: 0 });
  outstanding.complete(four, 4, 0);
  outstanding.complete(five, 2, 1);
  expect(outstanding.attempts).toEqual({ inFlight: 1, completed: 6 });
  expect(outstanding.saved()).toEqual([
    { group: 4, domain: "math", index: 4 },
    { group: 5, domain: "math", index: 5 },
  ]);
});

test("a group that goes on has the age of its first token, unless it is too old or has no neighbours of that age", () => {
  const begun = [
    {
      attempt: 0,
      from: 0,
      tokens: Int32Array.of(5),
      logprobs: Float32Array.of(-1),
      entropies: Float32Array.of(1),
      versions: Uint32Array.of(5),
      oldestKv: Uint32Array.of(5),
      finish: 0,
    },
  ];
  const at = (version: number, again: boolean) =>
    submission({ ...requestOf(3, 0), again }, version, 2, { of: () => ({ begun, version: 5 }) });
  expect(at(7, true)).toEqual({ submittedVersion: 5, begun });
  expect(at(8, true)).toEqual({ submittedVersion: 8 });
  expect(at(5, false)).toEqual({ submittedVersion: 5, begun });
  expect(at(6, false)).toEqual({ submittedVersion: 6 });
  expect(submission(requestOf(3, 0), 6, 2, { of: () => undefined })).toEqual({ submittedVersion: 6 });
  expect(submission(requestOf(3, 0), 6, 2, undefined)).toEqual({ submittedVersion: 6 });
});
