import { expect, test } from "vitest";
import { boxed, type Group, type Said } from "../constructed-run.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { hintsOf, times } from "./runs.ts";

const folder = temporaryFolder();

/** A group of answers to a problem whose reference is 100 + its number; answers equal to the reference are right. */
function group(problem: number, ...answers: readonly (string | number)[]): Group {
  const reference = { answer: 100 + problem };
  const said = answers.map((answer, i): Said => {
    const right = answer === 100 + problem;
    return { text: boxed(answer, `take ${i} of ${problem}`), status: right ? "correct" : "wrong" };
  });
  return { problem, reference, said };
}

const alike = (answer: string | number, count: number) => times(count, () => answer);
/** Ten problems whose completions agree on the right answer. */
const sound = (step: number) => times(10, (p) => group(p, ...alike(100 + p, 7), `${step}`));

test("a problem whose agreeing answers are all rejected, where agreement is right as a rule", async () => {
  const bad = (step: number) => group(50, ...alike("3/4", 7), `other ${step}`);
  const found = await hintsOf(folder.path, [
    [...sound(1), bad(1)],
    [...sound(2), bad(2)],
  ]);
  expect(found).toEqual([
    {
      kind: "gold-rejected",
      domain: "math",
      problem: 50,
      says: expect.stringMatching(
        /14 of 16 answers agree and none of them was accepted .* Of 10 problems .* 100 %/,
      ),
      evidence: { answers: 16, agreeing: 14, solved: 0, peers: 10, peersRight: 1 },
      rows: expect.any(Array),
      quotes: { answer: "3/4", reference: '{"answer":150}' },
    },
  ]);
  expect(found[0]!.rows).toHaveLength(2); // the last row of each group
});

test.each([
  [
    "one group alone, whose samples share their mistakes",
    [[...sound(1), ...sound(2), group(50, ...alike(3, 8))]],
  ],
  ["answers that do not agree", times(2, (s) => [...sound(s), group(50, 1, 2, 3, 4, 5, 6, 7, 8)])],
  ["a frequent answer that was accepted", times(2, (s) => [...sound(s), group(50, ...alike(150, 7), 1)])],
  [
    "a policy whose agreement is wrong as often as not",
    times(2, (s) => [
      ...times(10, (p) => group(p, ...alike(p % 2 ? 100 + p : `wrong ${p}`, 8))),
      group(50, ...alike(3, 8 - s)),
    ]),
  ],
  [
    "an answer that is given to everything",
    times(2, () => [
      ...times(10, (p) => group(p, ...alike(100 + p, 5), ...alike("same", 3))),
      group(50, ...alike("same", 8)),
    ]),
  ],
  [
    "too few problems to believe the agreement",
    times(2, (s) => [...sound(s).slice(0, 5), group(50, ...alike(3, 8))]),
  ],
  [
    "no answers",
    times(2, (s) => [...sound(s), { problem: 50, said: times(8, (i) => ({ text: `<think>${i}` })) }]),
  ],
])("nothing is said of %s", async (_, steps) => {
  expect((await hintsOf(folder.path, steps)).filter(({ kind }) => kind === "gold-rejected")).toEqual([]);
});
