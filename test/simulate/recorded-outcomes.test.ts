import { join } from "node:path";
import { expect, test } from "vitest";
import { recordedGroups, recordedOutcomes } from "../../lib/simulate/recorded-outcomes.ts";
import { recordedRun } from "./recorded-run.ts";

const groups = recordedGroups(join(recordedRun(), "events.jsonl"));
const outcomes = recordedOutcomes(groups, 0, () => ({ promptTokens: 12, verify: 0.1 }));

test("groups are read with their domain, step, lengths and fate", () => {
  expect(groups).toHaveLength(40);
  expect(groups[2]).toEqual({ domain: "math", step: 1, lengths: [10, 10, 10, 10], kept: true });
  expect(groups[39]).toEqual({ domain: "code", step: 19, lengths: [5, 5, 5, 5], kept: false });
});

test("a step has the answers of its time; one beyond the record those of its end", () => {
  const lengthsAt = (step: number) =>
    new Set(Array.from({ length: 50 }, (_, i) => outcomes("math", i, 4, step).lengths[0]));
  expect(lengthsAt(0)).toEqual(new Set([10]));
  expect(lengthsAt(10)).toEqual(new Set([10, 20]));
  expect(lengthsAt(19)).toEqual(new Set([20]));
  expect(lengthsAt(1000)).toEqual(new Set([20]));
});

test("an outcome is a recorded group, again the same, for as many attempts as are asked", () => {
  expect(outcomes("code", 3, 6, 2)).toEqual({
    promptTokens: 12,
    kept: false,
    lengths: [5, 5, 5, 5, 5, 5],
    verify: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
  });
  expect(outcomes("math", 8, 4, 10)).toEqual(outcomes("math", 8, 4, 10));
});
