import { readUnit } from "./quantity.ts";
import { parseDecimal } from "./rational.ts";
import type { Expr } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault, type Token } from "./token.ts";
import { TokenStream } from "./token-stream.ts";

export interface ParseOptions {
  /** True if the letter i is the imaginary unit; capital I always is. */
  readonly imaginary: boolean;
  /**
   * Uses a mathematician's conventions where the reference does not: only a proper fraction after an integer makes a
   * mixed number (the reference also adds 2(3) to 5), 1011_2 keeps its base, a text after a number is a unit, R and r
   * are two letters if both are used, 3:4:5 is not a quotient.
   */
  readonly strict: boolean;
  /** Receives both sides of each "a \\approx b" that is read as a. */
  readonly approximations?: (readonly [Expr, Expr])[];
}

const CASED = new Set(["letter", "symbol", "e"]);

/** True if both R and r, or both \Gamma and \gamma, occur. */
function usesBothCases(tokens: readonly Token[]): boolean {
  const spelt = new Map<string, string>();
  for (const { kind, text } of tokens) {
    if (!CASED.has(kind)) continue;
    const folded = text.toLowerCase();
    if ((spelt.get(folded) ?? text) !== text) return true;
    spelt.set(folded, text);
  }
  return false;
}

/** Names and numerals with their subscripts, and units: the smallest parts of an answer. */
export abstract class NameParser extends TokenStream {
  protected readonly options: ParseOptions;
  readonly #foldsCase: boolean;

  constructor(tokens: readonly Token[], options: ParseOptions) {
    super(tokens);
    this.options = options;
    this.#foldsCase = !options.strict || !usesBothCases(tokens);
  }

  /** A number; strict keeps the base of 1011_2, which the reference drops. */
  protected numeral(text: string): Expr {
    const value = numberOf(text);
    const base = this.subscript().replace(/^_\{?|\}$/g, "");
    if (!this.options.strict || base === "" || base === "10") return value;
    return s.call(
      "base",
      value,
      /^-?\d+$/.test(base) ? numberOf(base.replace("-", "")) : s.symbol(base),
      s.whole(base.startsWith("-") ? -1 : 1),
    );
  }

  protected subscripted(base: Expr): Expr {
    const text = this.subscript();
    return base.kind === "symbol" ? s.symbol(`${base.name}${text}`) : base;
  }

  /** "_1" or "_{10}" as part of a name; empty if there is none. */
  protected subscript(): string {
    if (!this.accept("_")) return "";
    const text = this.accept("{") ? this.#braced() : spelling(this.#inner());
    return text.length > 1 ? `_{${text}}` : `_${text}`;
  }

  #braced(): string {
    let text = "";
    for (let open = 1; ; ) {
      const token = this.#inner();
      if (token.kind === "{") open++;
      if (token.kind === "}" && --open === 0) return text;
      text += token.kind === "differential" ? `d${token.text}` : spelling(token);
    }
  }

  #inner(): Token {
    const token = this.next();
    if (token.kind === "end") throw new SyntaxFault("open subscript");
    return token;
  }

  protected name(token: Token): Expr {
    const name = nameOf(token) + this.subscript();
    if (token.kind === "letter" && token.text === "I") return s.constant("i");
    if (this.options.imaginary && name === "i") return s.constant("i");
    if (name === "pi" || name === "Pi") return s.constant("pi");
    return s.symbol(this.#foldsCase || token.kind === "accent" ? name.toLowerCase() : name);
  }

  /** True if the next token is a text that strict reads as a unit. */
  protected beforeUnit(): boolean {
    return this.options.strict && isText(this.upcoming());
  }

  /** The unit named by a text after a number, with its exponent. Throws SyntaxFault if it is not a unit. */
  protected unit(): Expr {
    const unit = readUnit(this.next().body ?? "");
    return this.accept("^") ? lastRaised(unit, this.exponent()) : unit;
  }

  /** The expression after "^". */
  protected abstract exponent(): Expr;
}

export const isText = (token: Token): boolean =>
  token.kind === "accent" && (token.text.includes("text") || token.text === "mbox");

export const numberOf = (text: string): Expr =>
  s.number(parseDecimal(text), text.includes(".") ? "decimal" : "integer");

/** In m s^{-1} and km/h^2, the exponent applies to the last unit only. */
function lastRaised(unit: Expr, exponent: Expr): Expr {
  if (unit.kind !== "product") return s.power(unit, exponent);
  return s.product([...unit.factors.slice(0, -1), s.power(unit.factors.at(-1)!, exponent)]);
}

const spelling = (token: Token): string => token.body ?? token.text;

function nameOf(token: Token): string {
  if (token.kind !== "accent") return token.text;
  const body = (token.body ?? "").replaceAll(" ", "");
  if (isText(token)) return body.replace(/[()]/g, "");
  if (token.text === "bar" || token.text === "overline") return `bar{${body}}`;
  if (token.text === "vec" || token.text === "overrightarrow") return `vec{${body}}`;
  if (token.text.includes("tilde")) return `tilde{${body}}`;
  return token.text.startsWith("math") ? `math{${body}}` : `${token.text}{${body}}`;
}
