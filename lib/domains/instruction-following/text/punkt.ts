import { isLower, isUpper, SPACE, trimEnd, WORD } from "../../../python/text.ts";
import {
  ABBREVIATIONS,
  COLLOCATIONS,
  COMMON_NAMES,
  SENTENCE_STARTERS,
  SENTENCE_WORDS,
} from "./punkt-words.ts";

/** Text after one of `.?!` that makes it a candidate: closing or opening punctuation, or white space and another token. */
const NOT_WORD = "[?!)\";}\\]*:@'({[‘’“”«»]";
const CANDIDATE = new RegExp(`[.?!](?=${NOT_WORD}|[${SPACE}]+([^${SPACE}]+))`, "g");

const MULTI = `(?:-{2,}|\\.{2,}|(?:\\.[${SPACE}]){2,}\\.)`;
const TOKEN = new RegExp(
  `${MULTI}|(?=[^("\`{[:;&#*@)}\\]\\-,])[^${SPACE}]+?(?=[${SPACE}]|$|${NOT_WORD}|${MULTI}|,(?:$|[${SPACE}]|${NOT_WORD}|${MULTI}))|[^${SPACE}]`,
  "g",
);

/** Closing brackets and quotes at the start of a "sentence"; they belong to the sentence before it. */
const STRAY_CLOSERS = new RegExp(`^["')\\]}‘’“”«»]+?(?:[${SPACE}]+|(?=--)|(?=\\n)|$)`);

const NUMBER = /^-?[.,]?\p{Nd}[\p{Nd},.-]*\.?$/u;
const INITIAL = new RegExp(`^(?!\\p{Nd})[${WORD}]\\.$`, "u");
const ELLIPSIS = /^\.\.+$/;
const NUMBER_TYPE = "##number##";

interface Token {
  readonly text: string;
  /** The text in lower case; all numbers have one type. */
  readonly type: string;
  /** True if the token ends a sentence, as decided so far. */
  breaks: boolean;
  abbreviation: boolean;
}

const withoutDot = (type: string): string =>
  type.length > 1 && type.endsWith(".") ? type.slice(0, -1) : type;

/** Punkt's first pass, which decides by the token alone, without its neighbours. */
function token(text: string): Token {
  const lower = text.toLowerCase();
  const made: Token = {
    text,
    type: NUMBER.test(lower) ? NUMBER_TYPE : lower,
    breaks: false,
    abbreviation: false,
  };
  if (text === "." || text === "?" || text === "!") made.breaks = true;
  else if (text.endsWith(".") && !text.endsWith("..")) {
    const stem = lower.slice(0, -1);
    made.abbreviation = ABBREVIATIONS.has(stem) || ABBREVIATIONS.has(stem.slice(stem.lastIndexOf("-") + 1));
    made.breaks = !made.abbreviation;
  }
  return made;
}

/** The type as a sentence's last word has it: without the dot that ends the sentence. */
const sentenceType = (t: Token): string => (t.breaks ? withoutDot(t.type) : t.type);

/** True if `next` looks like the first word of a sentence, judged by the capitalisation of that word in Punkt's corpus. */
function looksFirst(next: Token, type: string, upper: boolean): boolean | undefined {
  if (next.text.length === 1 && ";:,.!?".includes(next.text)) return false;
  if (upper) return SENTENCE_WORDS.has(type) ? true : undefined;
  return isLower(firstChar(next.text)) ? false : undefined;
}

/** Second pass: reconsiders a token that ends in a dot by the token after it. */
function reconsider(current: Token, next: Token): void {
  if (!current.text.endsWith(".")) return;
  const type = withoutDot(current.type);
  const nextType = sentenceType(next);
  if (COLLOCATIONS.has(`${type} ${nextType}`)) {
    current.breaks = false;
    return;
  }
  const upper = isUpper(firstChar(next.text));
  const first = looksFirst(next, nextType, upper);
  const initial = INITIAL.test(current.text);
  const short = current.abbreviation || ELLIPSIS.test(current.text);
  if (short && !initial && (first === true || (upper && SENTENCE_STARTERS.has(nextType)))) {
    current.breaks = true;
  } else if (initial || type === NUMBER_TYPE) {
    const name = initial && upper && first === undefined && !COMMON_NAMES.has(nextType);
    if (first === false || name) current.breaks = false;
  }
}

function firstChar(text: string): string {
  return String.fromCodePoint(text.codePointAt(0)!);
}

/** True if the words around a candidate indicate that a sentence ends before the last of them. */
function holdsBreak(context: string): boolean {
  const tokens = context
    .split("\n")
    .flatMap((line) => line.match(TOKEN) ?? [])
    .map(token);
  return tokens.slice(0, -1).some((current, i) => {
    reconsider(current, tokens[i + 1]!);
    return current.breaks;
  });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Splits the text into sentences; closing brackets may still stand at the start of the next one. */
function spans(text: string): Span[] {
  const found: Span[] = [];
  let start = 0;
  for (const { context, end, next } of candidates(text)) {
    if (!holdsBreak(context())) continue;
    found.push({ start, end });
    start = next;
  }
  found.push({ start, end: Math.max(start, trimEnd(text).length) });
  return found;
}

interface Candidate {
  /** The word before, the mark and the token after it. */
  readonly context: () => string;
  /** Index after the mark. */
  readonly end: number;
  /** Index where the next sentence would begin, if the mark ends one. */
  readonly next: number;
}

/** Marks that may end a sentence. Of several in one run without white space only the last counts. */
function candidates(text: string): Candidate[] {
  const found: Candidate[] = [];
  let wordStart = 0;
  let previousEnd = 0;
  for (const match of text.matchAll(CANDIDATE)) {
    const space = lastAsciiSpace(text, previousEnd, match.index);
    if (space > previousEnd) wordStart = space + 1;
    else if (wordStart < previousEnd) found.pop();
    const [from, end, follower] = [wordStart, match.index + 1, match[1]];
    const after = follower === undefined ? end + 1 : text.indexOf(follower, end) + follower.length;
    found.push({
      context: () => text.slice(from, after),
      end,
      next: follower === undefined ? end : after - follower.length,
    });
    previousEnd = match.index;
  }
  return found;
}

/** Index of the last of Python's string.whitespace in text[start, end), or -1. */
function lastAsciiSpace(text: string, start: number, end: number): number {
  for (let i = end - 1; i >= start; i--) if (" \t\n\r\v\f".includes(text[i]!)) return i;
  return -1;
}

/** Closing brackets and quotes at the start of a piece go to the piece before it. */
function realigned(text: string, pieces: readonly Span[]): string[] {
  const sentences: string[] = [];
  let moved = 0;
  for (const [i, piece] of pieces.entries()) {
    const start = piece.start + moved;
    const next = pieces[i + 1];
    const closers = next && STRAY_CLOSERS.exec(text.slice(next.start, next.end))?.[0];
    if (closers !== undefined) {
      sentences.push(text.slice(start, next!.start + trimEnd(closers).length));
      moved = closers.length;
    } else {
      if (start < piece.end) sentences.push(text.slice(start, piece.end));
      moved = 0;
    }
  }
  return sentences;
}

/**
 * Sentences of an English text by the Punkt algorithm, in order; white space between them is dropped, what is inside
 * them is kept as written. Time is linear in the text.
 * Source: Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection", as applied by NLTK 3.10;
 * parameters: punkt-words.ts.
 */
export function punktSentences(text: string): string[] {
  return realigned(text, spans(text));
}
