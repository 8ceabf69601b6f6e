import { expect } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { math } from "../../../lib/domains/math/verify.ts";

/** Judges a completion and returns "status: reason". */
export async function judge(gold: string, text: string, compat: Compat = "strict"): Promise<string> {
  const verdict = await math.verify({ text, finish: "stop" }, math.parseReference({ answer: gold, compat }));
  expect(verdict.score).toBe(verdict.status === "correct" ? 1 : 0);
  return `${verdict.status}: ${verdict.reason}`;
}
export const boxed = (answer: string) => `So we get $\\boxed{${answer}}$.`;
