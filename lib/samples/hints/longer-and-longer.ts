import type { SampleIndex } from "../sample-index.ts";
import { CORRECT, ends, type Hint, meanOf, percent, rise } from "./hint.ts";

const FEWEST_SAMPLES = 32;
const GROWTH = 1.5;
/** Required rise of each mean between the two ends, in standard errors. */
const CERTAIN = 4;

/**
 * Hints for domains whose reward rose while completions grew by at least half: length itself may be rewarded.
 */
export function longerAndLonger(index: SampleIndex): Hint[] {
  const { reward, tokens, status } = index.tables.members.columns;
  return ends(index).flatMap(({ domain, early, late }): Hint[] => {
    if (early.to >= late.from) return [];
    if (early.rows.length < FEWEST_SAMPLES || late.rows.length < FEWEST_SAMPLES) return [];
    const both = (value: (row: number) => number) =>
      [meanOf(early.rows, value), meanOf(late.rows, value)] as const;
    const [lengthBefore, lengthAfter] = both((row) => tokens[row]!);
    const [rewardBefore, rewardAfter] = both((row) => reward[row]!);
    const [solvedBefore, solvedAfter] = both((row) => Number(status[row] === CORRECT));
    const growth = lengthAfter.mean / Math.max(1, lengthBefore.mean);
    if (growth < GROWTH || rise(lengthBefore, lengthAfter) < CERTAIN) return [];
    if (rise(rewardBefore, rewardAfter) < CERTAIN) return [];
    const learned = rise(solvedBefore, solvedAfter) >= CERTAIN;
    const longest = [...late.rows].sort((a, b) => tokens[b]! - tokens[a]!);
    return [
      {
        kind: "longer-and-longer",
        domain,
        says: `${domain}: between steps ${early.from} to ${early.to} and ${late.from} to ${late.to} (${early.rows.length} and ${late.rows.length} completions) the mean reward rose from ${rewardBefore.mean.toFixed(3)} to ${rewardAfter.mean.toFixed(3)} while completions grew from ${Math.round(lengthBefore.mean)} to ${Math.round(lengthAfter.mean)} tokens; ${learned ? "the solve rate rose as well" : "the solve rate did not rise with it"}, from ${percent(solvedBefore.mean)} to ${percent(solvedAfter.mean)}.`,
        evidence: {
          rewardBefore: rewardBefore.mean,
          rewardAfter: rewardAfter.mean,
          tokensBefore: lengthBefore.mean,
          tokensAfter: lengthAfter.mean,
          solvedBefore: solvedBefore.mean,
          solvedAfter: solvedAfter.mean,
          samplesBefore: early.rows.length,
          samplesAfter: late.rows.length,
        },
        rows: longest.slice(0, 5),
      },
    ];
  });
}
