import { type Clock, readClock } from "./clock.ts";
import { bracedOperators, lastEquated, normalizeLatex } from "./normalize.ts";
import { namesSeveral, optionOf } from "./option-label.ts";
import { parseAnswer } from "./parser.ts";
import { plainLatex } from "./presentation.ts";
import { type Qualifier, withoutQualifiers } from "./qualifier.ts";
import { BudgetExceeded, Undefined } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import { SyntaxFault } from "./token.ts";

/** A parsed answer: its normalised text, and its value if it is an expression of the grammar. */
export interface Reading {
  readonly text: string;
  readonly value: Value | undefined;
  /** True if the text parsed. (A literal 1/0 parses but has no value.) */
  readonly parsed: boolean;
  /** Both sides of every "a \approx b" that was read as a. */
  readonly approximations: readonly (readonly [Expr, Expr])[];
  /** Strict: the time of day that the text may state. */
  readonly clock?: Clock;
  /** Strict: the reading without its final qualifiers, and these qualifiers. */
  readonly parts?: { readonly core: Reading; readonly qualifiers: readonly Qualifier[] };
  /** Strict: the option that the answer names, and the option's value; no `rest` if the answer is only the letter. */
  readonly option?: { readonly letter: string; readonly rest?: Reading; readonly isSure: boolean };
  /** Strict: true if the answer names two options or more. */
  readonly severalOptions?: true;
}

/** Signs that the text speaks of complex numbers, so that the letter i is the imaginary unit. */
const COMPLEX_MARKERS =
  /\\mathbb\{C\}|\\i\b|\bi\b|\\text\{i\}|\\mathrm\{i\}|\\imath\b|\\det|\\operatorname\{(?:tr|rank|Re|Im|Arg)\}|\\(?:Re|Im|arg|overline|bar)\b|\\begin\{[pbv]?matrix\}/;

/** Reads as the reference does: normalises and parses; after a failure, parses the last part of a chain of equalities. */
export function readLatex(boxed: string): Reading {
  const text = normalizeLatex(boxed);
  return attempt(text, false) ?? retried(text) ?? unread(text);
}

/**
 * Strict: reads the content of a box without its presentation. Text that is not an expression compares as text.
 * @param known returned unchanged if the box has the same text
 */
export function readStrictly(boxed: string, known?: Reading): Reading {
  const reading = readPlainly(asRatio(boxed, known), known);
  if (reading === known) return known;
  const [parts, option] = [partsOf(boxed), optionIn(boxed)];
  return {
    ...reading,
    ...(parts && { parts }),
    ...(option && { option }),
    ...(namesSeveral(boxed) && { severalOptions: true as const }),
  };
}

/** Rewrites "1 to 2" as "1:2" if a ratio is expected. */
const asRatio = (boxed: string, known: Reading | undefined): string =>
  known?.text.includes(":")
    ? boxed.replace(/(?<=[\d})]\s*)(?:\\text\s*\{\s*to\s*\}|to)(?=\s*[\\\d({])/g, ":")
    : boxed;

function partsOf(boxed: string): Reading["parts"] {
  const said = withoutQualifiers(boxed);
  return said && { core: readPlainly(said.core), qualifiers: said.qualifiers };
}

function optionIn(boxed: string): Reading["option"] {
  const option = optionOf(boxed);
  if (option === undefined) return undefined;
  const { letter, rest, isSure } = option;
  return rest === "" ? { letter, isSure } : { letter, isSure, rest: readPlainly(rest) };
}

function readPlainly(boxed: string, known?: Reading): Reading {
  const plain = plainLatex(boxed);
  const text = bracedOperators(plain).replace(/\s+/g, " ").trim();
  if (text === known?.text) return known;
  const clock = readClock(plain);
  const reading = attempt(text, true) ?? unread(squeezed(text));
  return clock === undefined ? reading : { ...reading, clock };
}

const unread = (text: string): Reading => ({ text, value: undefined, parsed: false, approximations: [] });

/** Removes spaces except those between two words or two numbers. */
const squeezed = (text: string): string => text.replace(/(?<![A-Za-z\d])\s+|\s+(?![A-Za-z\d])/g, "");

function retried(text: string): Reading | undefined {
  const last = lastEquated(text);
  const reading = last === undefined ? undefined : attempt(last, false);
  return reading && { ...reading, text };
}

function attempt(text: string, strict: boolean): Reading | undefined {
  const approximations: (readonly [Expr, Expr])[] = [];
  try {
    const imaginary = strict || COMPLEX_MARKERS.test(text);
    const value = parseAnswer(text, { imaginary, strict, approximations });
    return { text, value, parsed: true, approximations };
  } catch (error) {
    if (error instanceof Undefined) return { text, value: undefined, parsed: true, approximations };
    if (error instanceof SyntaxFault || error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}
