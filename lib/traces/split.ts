import type { Step } from "./categories.ts";

/** Matches beginnings of sentences that begin a step. */
const TURN =
  /^(?:(?:but |oh,? )?wait\b|hold on\b|hmm\b|actually\b|alternatively\b|on second thought\b|however, (?:i|we)\b|no wait\b|let me (?:double[- ]?check|check|verify|recompute|redo|re-?read|try|think|start|just|see|test)\b|let's (?:check|verify|test|try|see)\b|to (?:verify|check|double-check)\b|as a check\b|sanity check|double[- ]checking|therefore,? the\b|thus,? the\b)/i;
/** Matches beginnings of lines that begin a step. */
const LINE_TURN =
  /^(?:so\b|thus\b|hence\b|therefore\b|now\b|next\b|then\b|first\b|second\b|finally\b|also\b|but\b|okay\b|alright\b|step \d|case \d|\(?\d{1,2}[.)]\s|[-*•]\s)/i;
/** Smallest length of a step in characters; shorter pieces belong to a neighbouring step: "Okay.", "Hmm." */
const SHORTEST = 12;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The end of the thought and start of the answer. Without thinking marks the whole trace is thought. */
function thoughtOf(text: string): { readonly thought: Span; readonly answer: Span | undefined } {
  const open = /^\s*<think(?:ing)?>/.exec(text)?.[0].length ?? 0;
  const close = /<\/think(?:ing)?>/.exec(text);
  if (close === null) return { thought: { from: open, to: text.length }, answer: undefined };
  const after = close.index + close[0].length;
  const answer = text.slice(after).trim() === "" ? undefined : { from: after, to: text.length };
  return { thought: { from: open, to: close.index }, answer };
}

/**
 * The steps of a trace by rule: paragraphs; within them lines and sentences that begin with a mark of discourse; a fence
 * of code and a displayed formula are never cut; what follows the thought is one step. White space and marks of thinking
 * count for the step before them.
 */
export function stepsOf(text: string): Step[] {
  const { thought, answer } = thoughtOf(text);
  const starts = joined(text, thought, beginnings(text, thought));
  return stepsAt(text, answer === undefined ? starts : [...starts, answer.from]);
}

/**
 * The steps that begin at these characters, ascending; the first includes the text before it. A step also ends where
 * the thought ends.
 */
export function stepsAt(text: string, starts: readonly number[]): Step[] {
  const { answer } = thoughtOf(text);
  const border = answer?.from ?? text.length;
  const inOrder = [...new Set([...starts, ...(answer === undefined ? [] : [border])])].sort((a, b) => a - b);
  const steps = inOrder.map((start, i): Step => {
    const to = inOrder[i + 1] ?? text.length;
    const place = start >= border ? "answer" : "thought";
    return { text: withoutMarks(text.slice(start, to)), from: i === 0 ? 0 : start, to, place };
  });
  return steps.some((step) => step.text === "") ? withoutEmpty(steps) : steps;
}

const withoutMarks = (text: string): string => text.replaceAll(/<\/?think(?:ing)?>/g, "").trim();

/** Merges an empty step into the previous one. */
function withoutEmpty(steps: readonly Step[]): Step[] {
  const kept: Step[] = [];
  for (const step of steps) {
    const last = kept.at(-1);
    if (step.text !== "") kept.push({ ...step, from: last?.to ?? 0 });
    else if (last !== undefined) kept[kept.length - 1] = { ...last, to: step.to };
  }
  return kept;
}

/** Beginnings of the finest pieces that a reader may call steps: sentences and lines, a fence or a formula whole. */
export function sentencesOf(text: string): Span[] {
  const { thought, answer } = thoughtOf(text);
  const starts = [...sentenceStarts(text, thought), ...(answer === undefined ? [] : [answer.from])];
  return stepsAt(text, starts).map(({ from, to }) => ({ from, to }));
}

const PARAGRAPH_END = /\n[ \t]*\n\s*/g;
const LINE_END = /\n\s*/g;
const SENTENCE_END = /[.!?…](?:["')\]*]*)\s+(?=["'(*]*[A-Z\d])/g;

function beginnings(text: string, span: Span): number[] {
  const paragraphs = cutsIn(text, span, PARAGRAPH_END);
  const all = cutsIn(text, span, LINE_END);
  const lines = paragraphs.length === 0 ? all : all.filter((at) => turns(LINE_TURN, text, at));
  const turning = sentenceStarts(text, span).filter(
    (at) => turns(TURN, text, at) || (all.length === 0 && turns(LINE_TURN, text, at)),
  );
  return [...new Set([firstOf(text, span), ...paragraphs, ...lines, ...turning])].sort((a, b) => a - b);
}

const sentenceStarts = (text: string, span: Span): number[] =>
  [
    ...new Set([firstOf(text, span), ...cutsIn(text, span, LINE_END), ...cutsIn(text, span, SENTENCE_END)]),
  ].sort((a, b) => a - b);

const turns = (mark: RegExp, text: string, at: number): boolean => mark.test(text.slice(at, at + 60));

const firstOf = (text: string, { from, to }: Span): number =>
  from + (text.slice(from, to).length - text.slice(from, to).trimStart().length);

/** Offsets after each match of `end` in the span; does not cut code fences and formulas. */
function cutsIn(text: string, { from, to }: Span, end: RegExp): number[] {
  const part = text.slice(from, to);
  const whole = [...part.matchAll(/```[\s\S]*?(?:```|$)|\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]/g)];
  return [...part.matchAll(end)]
    .map((found) => found.index + found[0].length)
    .filter((at) => part.slice(0, at).trim() !== "" && at < part.length)
    .filter((at) => !whole.some(({ index, 0: block }) => at > index && at < index + block.length))
    .map((at) => from + at);
}

/** Joins a very short piece, or an announcement ("Then:"), with the next one. */
function joined(text: string, { to }: Span, starts: readonly number[]): number[] {
  const kept: number[] = [];
  let open: number | undefined;
  for (const [i, start] of starts.entries()) {
    const piece = text.slice(start, starts[i + 1] ?? to).trim();
    open ??= start;
    const goesOn = i + 1 < starts.length && (piece.length < SHORTEST || /:\**$/.test(piece));
    if (goesOn) continue;
    kept.push(open);
    open = undefined;
  }
  return kept;
}
