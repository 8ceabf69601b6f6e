import { expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { logic } from "../../../lib/domains/logic/verify.ts";

/** Judges an answer to a puzzle of one game and returns "status: reason"; checks that the score fits the status. */
export function judgeAs(task: string) {
  return async (gameData: unknown, text: string, compat: Compat = "strict"): Promise<string> => {
    const reference = logic.parseReference({ task, game_data: gameData, compat });
    const { status, score, reason } = await logic.verify({ text, finish: "stop" }, reference);
    expect(score).toBe(status === "correct" ? 1 : 0);
    expect(reason.length).toBeLessThan(200);
    return `${status}: ${reason}`;
  };
}

export type Row = readonly [
  answer: string,
  reference: "correct" | "wrong" | "no_answer",
  strict: "correct" | "wrong" | "no_answer",
];

/** Makes a test for each answer to one puzzle, with its status in reference and in strict mode. */
export function testAnswers(task: string, gameData: unknown, rows: readonly Row[]): void {
  const judge = judgeAs(task);
  test.each(rows)("%j is %s by the reference and %s by strict", async (answer, reference, strict) => {
    const verdicts = [await judge(gameData, answer, "reference"), await judge(gameData, answer)];
    expect(verdicts.map((verdict) => verdict.split(":")[0])).toEqual([reference, strict]);
  });
}

/**
 * Wrong answers of several megabytes that make a careless search or parser take quadratic time, or overflow the
 * stack.
 */
export const HOSTILE: readonly string[] = [
  "\\boxed{".repeat(100_000),
  `\\boxed{${"{".repeat(500_000)}`,
  "[".repeat(1_000_000),
  "[[".repeat(200_000) + "]".repeat(200_000),
  "```python\n".repeat(90_000),
  "```python\n x".repeat(80_000),
  `\`\`\`python\n${"(".repeat(400_000)}\n\`\`\``,
  `\`\`\`python\n(${"'".repeat(400_000)})\n\`\`\``,
  `\`\`\`python\n${"99+".repeat(130_000)}9\n\`\`\``,
  "1".repeat(1_000_000),
  "1+".repeat(500_000),
  `1${" ".repeat(900_000)}`,
  "1+1=".repeat(250_000),
  "*".repeat(1_000_000),
  "**a".repeat(300_000),
  `The answer is: **${"a".repeat(500_000)}**`,
  `${"no ".repeat(300_000)}`,
  "是，".repeat(300_000),
  ", ".repeat(500_000),
  `${"\n".repeat(1_000_000)}x`,
];
