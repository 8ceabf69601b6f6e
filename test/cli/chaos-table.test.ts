import { expect, test } from "vitest";
import { chaosText } from "../../lib/cli/chaos-table.ts";
import { seedsOf } from "../../lib/cli/verbs/chaos.ts";

const report = (seed: number, passed: boolean) => ({
  seed,
  faults: Array.from({ length: 12 }, (_, i) => `actor.${i}@t=${i}ms:sigkill`),
  struck: 11,
  steps: 40,
  checks: [
    { name: "the run goes on", passed: true, found: "to its end" },
    { name: "no group is lost", passed, found: "3 of 64" },
  ],
});

test("a row a seed; of those that failed every check and fault; nothing wider than 80 columns", () => {
  const text = chaosText([report(1, true), report(2, false)], 80);
  for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^seed 1 +holds +11\/12 +40 +2\/2$/m);
  expect(text).toMatch(/^seed 2 +FAILS +11\/12 +40 +1\/2$/m);
  expect(text).toMatch(/FAILS {2}no group is lost: 3 of 64|FAILS no group is lost: 3 of 64/);
  expect(text.match(/^seed \d$/gm)).toEqual(["seed 2"]);
  expect(chaosText([report(1, true)], 80)).toContain("actor.11@t=11ms:sigkill");
});

test("seeds are a number or a range", () => {
  expect(seedsOf("7")).toEqual([7]);
  expect(seedsOf("3..6")).toEqual([3, 4, 5, 6]);
  for (const text of ["", "x", "6..3", "0..5000", "1.5", "-1"])
    expect(() => seedsOf(text), text).toThrow(/--seed is/);
});
