import { expect, test } from "vitest";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { trainSeconds } from "../../lib/simulate/trainer-law.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";

test("a step's time follows its tokens, and their squares within a sequence", () => {
  const outcome = { promptTokens: 10, lengths: [10, 30], verify: [1, 1], kept: true };
  const groups = [submittedGroup({ ...requestOf(0, 0), attempts: 2 }, outcome)];
  const law = { fixed: 2, perToken: 0.1, perSquaredToken: 0.01, between: 5 };
  expect(trainSeconds(law, groups)).toBeCloseTo(2 + 0.1 * (20 + 40) + 0.01 * (400 + 1600), 9);
  expect(trainSeconds(law, [])).toBe(2);
});
