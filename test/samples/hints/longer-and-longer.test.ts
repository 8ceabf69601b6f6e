import { expect, test } from "vitest";
import type { Group } from "../constructed-run.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { hintsOf, times } from "./runs.ts";

const folder = temporaryFolder();

interface Course {
  readonly tokens: (step: number, i: number) => number;
  readonly reward: (step: number, i: number) => number;
  readonly solved: (step: number, i: number) => boolean;
}

const STEPS = 16;
const step = ({ tokens, reward, solved }: Course, s: number): Group[] =>
  times(4, (p) => ({
    problem: 4 * s + p,
    reference: { answer: 4 * s + p },
    said: times(4, (a) => {
      const i = 4 * p + a;
      const status = solved(s, i) ? ("correct" as const) : ("wrong" as const);
      return { text: `${s} ${i}`, tokens: tokens(s, i), reward: reward(s, i), status };
    }),
  }));
const run = (course: Course) =>
  hintsOf(
    folder.path,
    times(STEPS, (s) => step(course, s)),
  );

const growing = (s: number, i: number) => 20 + 5 * s + (i % 5);
const rising = (s: number, i: number) => 0.1 + 0.05 * s + 0.01 * (i % 7);
const half = (_: number, i: number) => i % 2 === 0;

test("reward and length rise, the solve rate does not", async () => {
  const [hint, ...others] = await run({ tokens: growing, reward: rising, solved: half });
  expect(others).toEqual([]);
  expect(hint).toMatchObject({
    kind: "longer-and-longer",
    domain: "math",
    says: expect.stringMatching(
      /between steps 1 to 4 and 13 to 16 .* from 29 to 89 tokens; the solve rate did not rise with it, from 50 % to 50 %/,
    ),
    evidence: { solvedBefore: 0.5, solvedAfter: 0.5, samplesBefore: 64, samplesAfter: 64 },
  });
  expect(hint!.evidence["tokensBefore"]).toBeCloseTo(20 + 5 * 1.5 + 1.875, 6);
  expect(hint!.evidence["rewardAfter"]! - hint!.evidence["rewardBefore"]!).toBeCloseTo(0.05 * 12, 6);
});

test("where the solve rate rises as well, it says so", async () => {
  const [hint] = await run({ tokens: growing, reward: rising, solved: (s, i) => i % 16 < s });
  expect(hint!.says).toContain("the solve rate rose as well, from 9 % to 84 %");
});

test.each([
  ["length that stays", { tokens: (_: number, i: number) => 40 + (i % 5), reward: rising, solved: half }],
  [
    "length that grows by a third",
    { tokens: (s: number, i: number) => 40 + s + (i % 5), reward: rising, solved: half },
  ],
  [
    "reward that stays",
    { tokens: growing, reward: (_: number, i: number) => 0.3 + 0.1 * (i % 7), solved: half },
  ],
  ["reward that falls", { tokens: growing, reward: (s: number, i: number) => -rising(s, i), solved: half }],
  [
    "lengths so scattered that their mean says little",
    {
      tokens: (s: number, i: number) => (i === 0 ? 1000 + 500 * Number(s > 8) : 20),
      reward: rising,
      solved: half,
    },
  ],
])("nothing is said of %s", async (_, course) => {
  expect(await run(course)).toEqual([]);
});
