import { describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { judgeAs } from "./judge.ts";

/** The expected verdict: "correct", or why the answer is wrong; `strict` only if it differs from `reference`. */
export type VerdictRow = readonly [what: string, answer: string, reference: string, strict?: string];

/** Tests each row in both modes; compares the whole verdict except for the reasons of correct ones. */
export function testVerdicts(task: string, gameData: unknown, rows: readonly VerdictRow[]): void {
  const judge = judgeAs(task);
  const verdict = async (answer: string, compat: Compat) => {
    const text = await judge(gameData, answer, compat);
    return text.startsWith("correct: ") ? "correct" : text.replace(/^wrong: /, "");
  };
  describe(task, () => {
    test.each(rows.map((row) => ({ what: row[0], row })))(
      "$what",
      async ({ row: [, answer, reference, strict = reference] }) => {
        expect([await verdict(answer, "reference"), await verdict(answer, "strict")]).toEqual([
          reference,
          strict,
        ]);
      },
    );
  });
}

/** Tests that each change of good game data is refused with a message that names the field. */
export function testRefusals(
  task: string,
  good: Readonly<Record<string, unknown>>,
  bad: readonly (readonly [metadata: Readonly<Record<string, unknown>>, message: RegExp])[],
): void {
  const judge = judgeAs(task);
  const metadata = (change: Readonly<Record<string, unknown>>) => ({
    ...good,
    metadata: { ...(good["metadata"] as object), ...change },
  });
  test.each(bad)(`${task}: %j is refused`, async (change, message) => {
    await expect(judge(metadata(change), "[[1]]")).rejects.toThrow(message);
    await expect(judge(metadata({}), "[[1]]")).resolves.toMatch(/^wrong: /);
  });
}

/** A fenced code block with its marks on separate lines. */
export const fenced = (text: string, language = "python"): string => `\`\`\`${language}\n${text}\n\`\`\``;
