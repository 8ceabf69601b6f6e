import type { SubmittedGroup } from "./attempt.ts";
import type { Machine } from "./machine.ts";

/**
 * Seconds of an optimizer step over these groups: fixed + perToken sum n + perSquaredToken sum n^2, with n
 * tokens of prompt and answer.
 */
export function trainSeconds(
  { fixed, perToken, perSquaredToken }: Machine["trainer"],
  groups: readonly SubmittedGroup[],
): number {
  let seconds = fixed;
  for (const { outcome } of groups)
    for (const length of outcome.lengths) {
      const tokens = outcome.promptTokens + length;
      seconds += tokens * (perToken + perSquaredToken * tokens);
    }
  return seconds;
}
