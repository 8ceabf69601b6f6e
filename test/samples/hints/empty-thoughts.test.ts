import { expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { hintsOf, times } from "./runs.ts";

const folder = temporaryFolder();

/** A run of 16 steps with 16 completions each. @param textOf the text for a step and a number from 0 to 15 */
const run = (textOf: (step: number, i: number) => string) =>
  hintsOf(
    folder.path,
    times(16, (s) =>
      times(4, (p) => ({
        problem: 4 * s + p,
        reference: 4 * s + p,
        said: times(4, (a) => ({
          text: textOf(s, 4 * p + a),
          status: a % 2 ? ("correct" as const) : ("wrong" as const),
          reward: textOf(s, 4 * p + a).includes("<think>\n") ? 0.9 : 0.4,
        })),
      })),
    ),
  );
const empty = (s: number, i: number) => `<think>\n\n</think>${s} ${i}`;
const full = (s: number, i: number) => `<think>first this, then that</think>${s} ${i}`;

test("thoughts that the latest completions open and leave empty, beside those that think", async () => {
  const found = await run((s, i) => (i < (s >= 12 ? 8 : 2) ? empty(s, i) : full(s, i)));
  expect(found).toEqual([
    {
      kind: "empty-thoughts",
      domain: "math",
      says: expect.stringMatching(
        /in steps 13 to 16, 50 % of 64 thoughts are empty \(13 % of 64 in steps 1 to 4\)\. The mean reward of the 32 completions with an empty thought is 0\.900, that of the 32 with a thought is 0\.400; 50 % of those 32 are right\./,
      ),
      evidence: {
        share: 0.5,
        shareBefore: 0.125,
        samples: 64,
        solved: 0.5,
        rewardEmpty: expect.closeTo(0.9, 9),
        rewardThinking: expect.closeTo(0.4, 9),
      },
      rows: expect.any(Array),
    },
  ]);
});

test("where nobody thinks there is nothing beside it", async () => {
  const [hint] = await run(empty);
  expect(hint!.evidence).toMatchObject({ share: 1, shareBefore: 1 });
  expect(hint!.evidence).not.toHaveProperty("rewardThinking");
});

test.each([
  ["thoughts that say something", full],
  ["completions that mark no thought", (s: number, i: number) => `${s} ${i}`],
  ["a few empty ones", (s: number, i: number) => (i < 3 ? empty(s, i) : full(s, i))],
  ["a third that were always empty", (s: number, i: number) => (i < 5 ? empty(s, i) : full(s, i))],
  ["empty ones that thinking has replaced", (s: number, i: number) => (s < 8 ? empty(s, i) : full(s, i))],
])("nothing is said of %s", async (_, textOf) => {
  expect(await run(textOf)).toEqual([]);
});
