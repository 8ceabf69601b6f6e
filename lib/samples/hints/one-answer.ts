import type { SampleIndex } from "../sample-index.ts";
import { countsOf } from "./gold-rejected.ts";
import { answerOf, CORRECT, ends, examples, type Hint, meanOf, percent } from "./hint.ts";

const FEWEST_PROBLEMS = 8;
const SHARE = 0.5;
/** Required ratio of the answer's frequency to that of the most frequent reference. */
const BEYOND = 1.5;

/** Hints for domains in which most of the latest completions give one answer, regardless of the question. */
export function oneAnswer(index: SampleIndex): Hint[] {
  const { problem, status } = index.tables.members.columns;
  const { same, reference0, reference1 } = index.tables.problems.columns;
  return ends(index).flatMap(({ domain, late: { rows, from, to } }): Hint[] => {
    const problems = new Set(rows.map((row) => same[problem[row]!]!)).size;
    if (problems < FEWEST_PROBLEMS) return [];
    const keys = countsOf(rows.map((row) => answerOf(index, row)));
    keys.delete(0);
    const references = countsOf(
      rows.map((row) => reference0[problem[row]!]! * 2 ** 21 + (reference1[problem[row]!]! & (2 ** 21 - 1))),
    );
    const share = mostOf(keys).count / rows.length;
    const asked = mostOf(references).count / rows.length;
    if (share < SHARE || share < BEYOND * asked) return [];
    const { key } = mostOf(keys);
    const alike = rows.filter((row) => answerOf(index, row) === key);
    const solved = meanOf(alike, (row) => Number(status[row] === CORRECT)).mean;
    return [
      {
        kind: "one-answer",
        domain,
        says: `${domain}: in steps ${from} to ${to}, ${percent(share)} of ${rows.length} completions of ${problems} problems give one and the same answer, of which ${percent(solved)} were accepted; no reference is that of more than ${percent(asked)} of them.`,
        evidence: { share, samples: rows.length, problems, solved, mostFrequentReference: asked },
        rows: examples(index, alike),
      },
    ];
  });
}

function mostOf(counts: ReadonlyMap<number, number>): { readonly key: number; readonly count: number } {
  let most = { key: 0, count: 0 };
  for (const [key, count] of counts) if (count > most.count) most = { key, count };
  return most;
}
