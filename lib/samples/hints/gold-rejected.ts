import type { SampleIndex } from "../sample-index.ts";
import { answerOf, byDomain, CORRECT, examples, type Hint, percent } from "./hint.ts";

/**
 * Number of answers that must agree: those of two groups, or this many in one, since one group's samples share their
 * mistakes.
 */
const FEWEST_ANSWERS = 8;
const FEWEST_OF_ONE_GROUP = 16;
const AGREEMENT = 0.5;
/**
 * Required number of other problems with as much agreement, and share of them whose frequent answer was
 * right.
 */
const FEWEST_PEERS = 8;
const RELIABLE = 0.9;
/** Required ratio of an answer's frequency on its problem to that among all of the domain's completions. */
const OWN = 3;

interface Answer {
  readonly key: number;
  readonly rows: number[];
  solved: number;
}

interface Answered {
  readonly problem: number;
  readonly answers: number;
  readonly solved: number;
  readonly top: Answer;
}

/**
 * Hints for problems on which most completions agree on an answer that was never accepted, in a domain where agreeing
 * answers are usually right: either the reference is wrong, or the verifier cannot read the answer.
 */
export function goldRejected(index: SampleIndex): Hint[] {
  return [...byDomain(index)].flatMap(([domain, rows]) => {
    const agreed = answeredProblems(index, rows)
      .filter((one) => shareOf(one) >= AGREEMENT)
      .sort((a, b) => shareOf(b) - shareOf(a));
    const common = countsOf(rows.map((row) => answerOf(index, row)));
    const isOwn = (one: Answered) => shareOf(one) >= (OWN * common.get(one.top.key)!) / rows.length;
    return agreed
      .filter((one) => one.top.solved === 0 && isOwn(one))
      .map((one) => ({ one, peers: peersOf(one, agreed) }))
      .filter(({ peers }) => peers.count >= FEWEST_PEERS && peers.right >= RELIABLE)
      .sort((a, b) => b.one.top.rows.length - a.one.top.rows.length)
      .map(({ one, peers }) => hintOf(index, domain, one, peers));
  });
}

const shareOf = ({ top, answers }: Answered): number => top.rows.length / answers;

interface Peers {
  readonly count: number;
  /** Fraction of the peers whose frequent answer was usually accepted. */
  readonly right: number;
}

/** The other problems whose answers agree at least as much. @param agreed those with the most agreement first */
function peersOf(one: Answered, agreed: readonly Answered[]): Peers {
  const peers = agreed.filter((other) => other !== one && shareOf(other) >= shareOf(one));
  const right = peers.filter(({ top }) => 2 * top.solved > top.rows.length).length;
  return { count: peers.length, right: right / peers.length };
}

function answeredProblems(index: SampleIndex, rows: readonly number[]): Answered[] {
  const { problem, status, group } = index.tables.members.columns;
  const { same } = index.tables.problems.columns;
  const answered = new Uint32Array(index.tables.problems.rows);
  for (const row of rows) if (answerOf(index, row) !== 0) answered[same[problem[row]!]!]! += 1;
  const all = new Map<number, Map<number, Answer>>();
  for (const row of rows) {
    const key = answerOf(index, row);
    const of = same[problem[row]!]!;
    if (key === 0 || answered[of]! < FEWEST_ANSWERS) continue;
    const answers = all.get(of) ?? new Map<number, Answer>();
    all.set(of, answers);
    const answer = answers.get(key) ?? { key, rows: [], solved: 0 };
    answers.set(key, answer);
    answer.rows.push(row);
    if (status[row] === CORRECT) answer.solved += 1;
  }
  return [...all].flatMap(([of, answers]) => {
    const list = [...answers.values()];
    const count = answered[of]!;
    const top = list.reduce((a, b) => (b.rows.length > a.rows.length ? b : a));
    const groups = new Set(top.rows.map((row) => group[row])).size;
    if (count < (groups > 1 ? FEWEST_ANSWERS : FEWEST_OF_ONE_GROUP)) return [];
    return [{ problem: of, answers: count, solved: list.reduce((sum, one) => sum + one.solved, 0), top }];
  });
}

export function countsOf(keys: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function hintOf(
  index: SampleIndex,
  domain: string,
  { problem, answers, solved, top }: Answered,
  peers: Peers,
): Hint {
  const id = index.tables.problems.columns.id[problem]!;
  const agreeing = top.rows.length;
  return {
    kind: "gold-rejected",
    domain,
    problem: id,
    says: `${domain} problem ${id}: ${agreeing} of ${answers} answers agree and none of them was accepted (${solved} others were). Of ${peers.count} problems of this domain whose answers agree as much, ${percent(peers.right)} are answered right: the reference may be wrong, or the verifier cannot read the answer.`,
    evidence: { answers, agreeing, solved, peers: peers.count, peersRight: peers.right },
    rows: examples(index, top.rows),
  };
}
