import { lastEquated, normalizeLatex } from "./normalize.ts";
import { parseAnswer } from "./parser.ts";
import { BudgetExceeded, Undefined } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import { SyntaxFault } from "./token.ts";

/** What was made of an answer: its normalised text, and its value when it is an expression of the grammar. */
export interface Reading {
  readonly text: string;
  readonly value: Value | undefined;
  /** True when the grammar took it: a literal 1/0 parses but has no value. */
  readonly parsed: boolean;
  /** Both sides of every "a \approx b" of which a was kept. */
  readonly approximations: readonly (readonly [Expr, Expr])[];
}

/** Signs that the text speaks of complex numbers, so that the letter i is the imaginary unit. */
const COMPLEX_MARKERS =
  /\\mathbb\{C\}|\\i\b|\bi\b|\\text\{i\}|\\mathrm\{i\}|\\imath\b|\\det|\\operatorname\{(?:tr|rank|Re|Im|Arg)\}|\\(?:Re|Im|arg|overline|bar)\b|\\begin\{[pbv]?matrix\}/;

/** Normalises the inside of a box and parses it; after a failure, the last part of a chain of equalities. */
export function readLatex(boxed: string, strict: boolean): Reading {
  const text = normalizeLatex(strict ? boxed.replace(/~(?!=)/g, " ") : boxed, strict);
  return (
    attempt(text, strict) ??
    retried(text, strict) ?? { text, value: undefined, parsed: false, approximations: [] }
  );
}

function retried(text: string, strict: boolean): Reading | undefined {
  const last = lastEquated(text);
  const reading = last === undefined ? undefined : attempt(last, strict);
  return reading && { ...reading, text };
}

function attempt(text: string, strict: boolean): Reading | undefined {
  const approximations: (readonly [Expr, Expr])[] = [];
  try {
    const imaginary = strict || COMPLEX_MARKERS.test(text);
    const value = parseAnswer(text, { imaginary, properMixed: strict, approximations });
    return { text, value, parsed: true, approximations };
  } catch (error) {
    if (error instanceof Undefined) return { text, value: undefined, parsed: true, approximations };
    if (error instanceof SyntaxFault || error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}
