import { expect, test } from "vitest";
import { boxed } from "../constructed-run.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { hintsOf, times } from "./runs.ts";

const folder = temporaryFolder();

/** A run of 16 steps with 12 problems and two answers each; the functions give the answer, and each problem's reference. */
const run = (
  answerOf: (step: number, problem: number, attempt: number) => string,
  referenceOf = (p: number) => `r${p}`,
) =>
  hintsOf(
    folder.path,
    times(16, (s) =>
      times(12, (p) => ({
        problem: p,
        reference: referenceOf(p),
        said: times(2, (a) => {
          const answer = answerOf(s, p, a);
          const text = boxed(answer, `step ${s} problem ${p} attempt ${a}`);
          return { text, status: answer === referenceOf(p) ? ("correct" as const) : ("wrong" as const) };
        }),
      })),
    ),
  );

test("one answer to most of the latest problems, whatever is asked", async () => {
  const found = await run((s, p, a) => (s >= 12 && (p + a) % 4 !== 0 ? "42" : `${s} ${p} ${a}`));
  expect(found).toEqual([
    {
      kind: "one-answer",
      domain: "math",
      says: expect.stringMatching(
        /in steps 13 to 16, 75 % of 96 completions of 12 problems .* 0 % were accepted.* than 8 %/,
      ),
      evidence: { share: 0.75, samples: 96, problems: 12, solved: 0, mostFrequentReference: 1 / 12 },
      rows: expect.any(Array),
      quotes: { answer: "42" },
    },
  ]);
});

test.each([
  ["answers that differ", (s: number, p: number, a: number) => `${s} ${p} ${a}`, undefined],
  [
    "an answer of the beginning that was given up",
    (s: number, p: number) => (s < 12 ? "42" : `${p}`),
    undefined,
  ],
  [
    "an answer to less than half",
    (_: number, p: number, a: number) => (p % 3 === 0 ? "42" : `${p} ${a}`),
    undefined,
  ],
  [
    "an answer that most problems ask for",
    (_: number, p: number) => (p % 4 ? "yes" : "no"),
    (p: number) => (p % 4 ? "yes" : "no"),
  ],
])("nothing is said of %s", async (_, answerOf, referenceOf) => {
  expect((await run(answerOf, referenceOf)).filter(({ kind }) => kind === "one-answer")).toEqual([]);
});

test("an answer that goes beyond what is asked for is told", async () => {
  const found = await run(
    () => "yes",
    (p) => (p % 2 ? "yes" : "no"),
  );
  expect(found).toMatchObject([
    { kind: "one-answer", evidence: { share: 1, mostFrequentReference: 0.5, solved: 0.5 } },
  ]);
});

test("completions without an answer are none that agree", async () => {
  const steps = times(16, (s) =>
    times(12, (p) => ({ problem: p, reference: p, said: [{ text: `<think>${s}` }] })),
  );
  expect((await hintsOf(folder.path, steps)).filter(({ kind }) => kind === "one-answer")).toEqual([]);
});
