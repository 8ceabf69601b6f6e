import type { ProblemResult } from "../../lib/evaluation/index.ts";
import { problemOf } from "../orchestration/pipeline-accounting.ts";

export function resultOf(
  id: number,
  domain: string,
  scores: readonly number[],
  tokens: readonly number[],
): ProblemResult {
  const problem = { ...problemOf(domain, id), level: id % 2 };
  const correct = scores.map((s) => s === 1);
  return { problem, scores, correct, tokens, truncated: tokens.map((t) => t >= 80) };
}
