import type { SampleIndex } from "../sample-index.ts";
import { NO_THOUGHT } from "../tables.ts";
import { CORRECT, ends, examples, type Hint, percent } from "./hint.ts";

const FEWEST_SAMPLES = 32;
/** Characters up to which a thought counts as empty. */
const EMPTY_CHARS = 4;
const SHARE = 0.25;
/** Required rise of the share since the beginning. */
const RISE = 0.2;
/** Share of empty late thoughts that is reported whatever the share was early in the run. */
const MOST = 0.5;

/** Hints for domains whose latest completions open a thought but leave it empty. */
export function emptyThoughts(index: SampleIndex): Hint[] {
  const { completion, status, reward } = index.tables.members.columns;
  const { thought } = index.tables.completions.columns;
  const charsOf = (row: number) => thought[completion[row]!]!;
  const marked = (rows: readonly number[]) => rows.filter((row) => charsOf(row) !== NO_THOUGHT);
  const isEmpty = (row: number) => charsOf(row) < EMPTY_CHARS;
  return ends(index).flatMap(({ domain, early, late }): Hint[] => {
    const [before, after] = [marked(early.rows), marked(late.rows)];
    if (after.length < FEWEST_SAMPLES) return [];
    const share = shareOf(after, isEmpty);
    const shareBefore = before.length === 0 ? 0 : shareOf(before, isEmpty);
    if (share < SHARE || (share < MOST && share < shareBefore + RISE)) return [];
    const empty = after.filter(isEmpty);
    const full = after.filter((row) => !isEmpty(row));
    const solved = shareOf(empty, (row) => status[row] === CORRECT);
    const rewardEmpty = mean(empty, reward);
    const rewardFull = full.length === 0 ? undefined : mean(full, reward);
    const beside =
      rewardFull === undefined
        ? ""
        : `, that of the ${full.length} with a thought is ${rewardFull.toFixed(3)}`;
    return [
      {
        kind: "empty-thoughts",
        domain,
        says: `${domain}: in steps ${late.from} to ${late.to}, ${percent(share)} of ${after.length} thoughts are empty (${percent(shareBefore)} of ${before.length} in steps ${early.from} to ${early.to}). The mean reward of the ${empty.length} completions with an empty thought is ${rewardEmpty.toFixed(3)}${beside}; ${percent(solved)} of those ${empty.length} are right.`,
        evidence: {
          share,
          shareBefore,
          samples: after.length,
          solved,
          rewardEmpty,
          ...(rewardFull !== undefined && { rewardThinking: rewardFull }),
        },
        rows: examples(index, empty),
      },
    ];
  });
}

const shareOf = (rows: readonly number[], test: (row: number) => boolean): number =>
  rows.filter(test).length / rows.length;

const mean = (rows: readonly number[], column: ArrayLike<number>): number =>
  rows.reduce((sum, row) => sum + column[row]!, 0) / rows.length;
