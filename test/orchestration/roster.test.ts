import fc from "fast-check";
import { expect, test } from "vitest";
import { Roster } from "../../lib/orchestration/roster.ts";
import { ticketOf } from "./lines-books.ts";

function rosterOf(versions: readonly number[]): Roster {
  const roster = new Roster();
  versions.forEach((v, group) => {
    roster.add(ticketOf(group, v));
  });
  return roster;
}
const due = (versions: readonly number[], version: number, maxLag: number, p: number) =>
  rosterOf(versions)
    .due(version, maxLag, p)
    .map((t) => t.group);

test("a group is due when the next step would be too late for it", () => {
  expect(due([0, 0, 1, 1], 1, 1, 2)).toEqual([0, 1]);
  expect(due([0, 0, 0, 0], 0, 1, 2)).toEqual([0, 1]); // four groups within two steps of two
  expect(due([0, 1, 1], 1, 2, 2)).toEqual([]);
  expect(due([3], 3, 0, 1)).toEqual([0]);
});

test("groups that would pile up on a later step are due before", () => {
  // lag 2, P = 2: five groups of version 0 at version 1 have the steps 1 and 2 left, which take four
  expect(due([0, 0, 0, 0, 0], 1, 2, 2)).toEqual([0, 1, 2]);
});

/**
 * Any order of completion, chosen adversarially: with at most P (maxLag + 1) outstanding and credits back after
 * each step, no trained group is older than maxLag and a step never has to take more than P.
 * Mutants this kills (tried): stepsLeft without + maxLag; due = count of version <= v - maxLag only.
 */
test("whatever completes first, no group trains too old and no step overflows", () => {
  const plan = fc.record({
    p: fc.integer({ min: 1, max: 5 }),
    maxLag: fc.integer({ min: 0, max: 4 }),
    choices: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
  });
  fc.assert(
    fc.property(plan, ({ p, maxLag, choices }) => {
      const roster = new Roster();
      let group = 0;
      const fill = (version: number) => {
        while (roster.size < p * (maxLag + 1)) roster.add(ticketOf(group++, version));
      };
      fill(0);
      for (let version = 0; version < 12; version++) {
        const must = roster.due(version, maxLag, p);
        expect(must.length).toBeLessThanOrEqual(p);
        const taken = [...must];
        const others = [...roster].filter((t) => !must.includes(t));
        while (taken.length < p)
          taken.push(...others.splice(choices[(version * 5 + taken.length) % 60]! % others.length, 1));
        for (const { group: g, submittedVersion } of taken) {
          expect(version - submittedVersion).toBeLessThanOrEqual(maxLag);
          roster.remove(g);
        }
        fill(version + 1);
      }
    }),
  );
});

test("counts attempts with and without a verdict, and saves what to draw again", () => {
  const roster = new Roster();
  roster.add(ticketOf(4, 0, { finished: 4 }));
  roster.add(ticketOf(5, 0, { finished: 2, failed: 1 }));
  expect(roster.attempts).toEqual({ unfinished: 1, finished: 6 });
  expect(roster.saved()).toEqual([
    { group: 4, domain: "math", index: 4 },
    { group: 5, domain: "math", index: 5 },
  ]);
});
