import { expect, test } from "vitest";
import { sampledTokens } from "../lib/records.ts";

test("what an environment gave is not counted among the tokens that the policy chose", () => {
  const tokens = Int32Array.of(5, 6, 7, 8, 9);
  expect(sampledTokens({ tokens })).toBe(5);
  const verdict = { status: "wrong", score: 0, reason: "" } as const;
  const episode = { given: Uint8Array.of(0, 1, 1, 0, 0), givenText: [], turns: 2, toolCalls: 0, verdict };
  expect(sampledTokens({ tokens, episode })).toBe(3);
});
