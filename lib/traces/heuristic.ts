import type { Category, Step } from "./categories.ts";
import { stepsOf } from "./split.ts";
import type { Reader } from "./trace.ts";

/**
 * Measured accuracy of its labels against those by hand, on the 30 traces of test/fixtures/traces.jsonl that were not
 * used to fit the rules, with given steps. A test compares these figures with a measurement.
 */
export const HEURISTIC_MEASURED = { traces: 30, steps: 165, accuracy: 0.806, kappa: 0.747 } as const;

const GIVES_UP =
  /\b(?:(?:wait|hmm),? no\b|wait,? that|hold on\b|(?:that|this|which) (?:is|was|can't be|cannot be|'s)? ?(?:wrong|not right|incorrect|impossible)|that's (?:wrong|not right|incorrect)|(?:is|was|made) a (?:mistake|dead end)|i (?:forgot|assumed|misread|overlooked|mixed up)|(?:that|this) fails|(?:doesn't|does not|won't|will not) (?:work|do)\b|discard|start over|redo\b|on second thought|try (?:another|a different|something)|different approach|is out\b|instead of)/i;
const TESTS =
  /\b(?:(?:double-?|re)?check(?:ing|s)?|verif(?:y|ies|ying)|sanity|confirms?|plug(?:ging)? .{0,20}back|substitut\w+ .{0,20}back|consistent|match(?:es)?\b|as (?:it should be|expected|required|wanted)|agrees?\b|indeed\b|test(?:ing)? (?:it|this|the|with)|expected \d|counting\b|plausible|supports this|also (?:fits|works|holds|gives)|direct(?:ly)? count|(?:is|are) both there|satisf(?:y|ies)|both (?:total|sides|equal)|each .{0,40}once|1 to \d once)|✓|^(?:what about|trying|on "|on \[|left:)/i;
const DIVIDES =
  /\b(?:plan:|my (?:plan|strategy|approach)|break (?:this|it) (?:up|into|down)|step one\b|(?:two|three|four|several) (?:things|targets|parts|stages|subproblems)|(?:two|three|four|several) cases|one call for each|first i (?:want|need)|split (?:this|it|the problem) (?:up|into))/i;
const FROM_THE_GOAL =
  /\b(?:work(?:ing)? (?:back|from (?:that|the) end)|what (?:would|must) (?:have to|need|hold|be true)|what (?:i|we) would need|suffices? to|enough to (?:prove|show|find)|goal state|from the (?:end|goal)|^(?:to|for) [^.]{0,80}\b(?:has to|have to|must|needs? to)\b|^we need .{0,60} to be\b)/i;
const READS =
  /\b(?:given|let (?!me\b|us\b|'s)\w+ (?:be|denote)|let \w+ =|denote|they want|(?:is|are|being) asked|asks? (?:for|to|why)|asking|the (?:problem|task|question|constraints|input|request) (?:is|says|asks|are)|we are told|in other words|rewrite|converting)/i;
const TALKS =
  /\b(?:i(?:'m| am) (?:\w+ )?(?:sure|confident|careful)|i think that|let me (?:just|think about)|so (?:basically|that is what)|everything (?:is|seems)|as i said|so far|that's it)\b/i;

/** If at least this share of words and numbers occurred before, the step repeats them. */
const REPEATED = 0.6;
/** Number of neighbouring words, numbers and signs in a run (an n-gram). */
const RUN = 3;
const NUMBER = /\d+(?:\.\d+)?/g;

/** Labels without a model: one category per step, from its opening and argumentative words and from repetition. */
export function labelByRules(steps: readonly Step[]): Category[] {
  const known = new Set<string>();
  const hasAnswer = steps.some(({ place }) => place === "answer");
  return steps.map((step, i) => {
    const label = labelOf(step, { first: i === 0, last: i === steps.length - 1 && !hasAnswer, known });
    for (const said of saidIn(step.text)) known.add(said);
    return label;
  });
}

interface Around {
  readonly first: boolean;
  /** True for the last step of a trace without a separate answer. */
  readonly last: boolean;
  /** Words, numbers and phrases of earlier steps. */
  readonly known: ReadonlySet<string>;
}

function labelOf({ text, place }: Step, { first, last, known }: Around): Category {
  if (place === "answer" || last) return "final answer";
  if (FROM_THE_GOAL.test(text)) return "backward chaining";
  if (GIVES_UP.test(text)) return "backtracking";
  if (DIVIDES.test(text)) return "subgoal setting";
  if (first) return "problem setup";
  if (repetition(text, known) >= REPEATED || saysAgain(text, known)) return "non-productive";
  if (TESTS.test(text) || arrivesAgain(text, known)) return "verification";
  if (TALKS.test(text)) return "non-productive";
  return READS.test(text) ? "problem setup" : "forward reasoning";
}

const CONCLUDES = /^(?:so|thus|therefore|hence|and|right|yes|okay|ok|great)\b/i;
/** A conclusion of at most this many words can only repeat what was said. */
const SHORT = 12;
/** Required share of repeated longer words for a step without new numbers to count as a repetition. */
const SAME_WORDS = 0.7;

/** True for a step with only repeated numbers that is a short conclusion without a computation, or repeats earlier words. */
function saysAgain(text: string, known: ReadonlySet<string>): boolean {
  const numbers = text.match(NUMBER) ?? [];
  if (numbers.length === 0 || !numbers.every((number) => known.has(number))) return false;
  if (text.split(/\s+/).length <= SHORT && !/[=*/+^]/.test(text) && CONCLUDES.test(text)) return true;
  const words = longWordsOf(text);
  return words.length > 2 && words.filter((word) => known.has(word)).length >= SAME_WORDS * words.length;
}

/** True for a new computation that yields an earlier number of two or more digits: a result verified in another way. */
function arrivesAgain(text: string, known: ReadonlySet<string>): boolean {
  const ends = [...text.matchAll(/=\s*(-?\d\d+(?:\.\d+)?)(?![\d.]*\s*[-+*/^(=]|\w)/g)];
  const last = ends.at(-1)?.[1];
  return last !== undefined && known.has(last.replace("-", "")) && /\d\s*[-+*/^]\s*\(?\d/.test(text);
}

const longWordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];

/** Phrases, numbers and longer words that later steps may repeat. */
const saidIn = (text: string): string[] => [
  ...runsOf(text),
  ...(text.match(NUMBER) ?? []),
  ...longWordsOf(text),
];

/** Share of a step's runs that were said before. */
export function repetition(text: string, known: ReadonlySet<string>): number {
  const runs = runsOf(text);
  return runs.length === 0 ? 0 : runs.filter((run) => known.has(run)).length / runs.length;
}

/** Words in small letters, numbers and signs of arithmetic, every run of RUN neighbours. */
export function runsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}_]+|\d+(?:\.\d+)?|[-+*/^=<>]/gu) ?? [];
  return words.slice(RUN - 1).map((_, i) => words.slice(i, i + RUN).join(" "));
}

/** The rules as a reader of traces. */
export const RULES: Reader = {
  name: "heuristic",
  read: async (trace) => {
    const steps = stepsOf(trace.text);
    return { trace, steps, labels: labelByRules(steps) };
  },
  label: async (_, steps) => labelByRules(steps),
};
