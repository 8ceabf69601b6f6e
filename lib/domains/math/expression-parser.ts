import { AtomParser } from "./atom-parser.ts";
import { divided, each, sideBySide } from "./juxtaposition.ts";
import { numberOf } from "./name-parser.ts";
import { degrees, mentionsUnit } from "./quantity.ts";
import type { Expr, Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault } from "./token.ts";

const OPENERS = new Set(
  "number scientific percent letter symbol accent e infinity differential ( [ { {set | lvert norm lfloor lceil langle frac binom begin group function many operator sqrt integral series limit domain".split(
    " ",
  ),
);
const NAMES = new Set(["letter", "symbol", "accent"]);
/** Token kinds that end the argument of a function written without parentheses. */
const FUNCTIONS = new Set("function many operator sqrt integral series limit e".split(" "));

/** Sums, products and powers: the part of the grammar between atoms and relations. */
export abstract class ExpressionParser extends AtomParser {
  protected expression(value: Value = this.additive()): Expr {
    if (!s.isExpr(value)) throw new SyntaxFault(`a ${value.kind} where a number belongs`);
    return value;
  }

  /** Parses a sum, or any other value (a set, an interval) that is not part of a sum. */
  protected additive(): Value {
    const first = this.term(false);
    if (this.peek() !== "+" && this.peek() !== "-") return first;
    const terms = [this.expression(first)];
    for (;;) {
      if (this.accept("+")) terms.push(this.expression(this.term(false)));
      else if (this.accept("-")) terms.push(s.negate(this.expression(this.term(false))));
      else return s.sum(terms);
    }
  }

  protected term(inArgument: boolean): Value {
    let left = this.#signed(inArgument);
    for (;;) {
      const kind = this.peek();
      if (kind !== "*" && kind !== "/" && kind !== ":" && kind !== "mod") return left;
      this.next();
      const a = this.expression(left);
      const units = this.beforeUnit() && mentionsUnit(a);
      const b = units ? this.unit() : this.expression(this.#signed(inArgument));
      if (kind === ":" && this.options.strict && this.peek() === ":") return this.#ratio([a, b], inArgument);
      left = kind === "*" ? s.product([a, b]) : kind === "mod" ? s.call("mod", a, b) : divided(a, b);
    }
  }

  /** Parses a ratio: 3:4:5 equals 6:8:10 and no other kind of value. */
  #ratio(parts: Expr[], inArgument: boolean): Expr {
    while (this.accept(":")) parts.push(this.expression(this.#signed(inArgument)));
    const last = parts.pop()!;
    return s.call("ratio", ...parts.map((part) => s.quotient(part, last)));
  }

  #signed(inArgument: boolean): Value {
    let negative = false;
    for (;;) {
      if (this.accept("-")) negative = !negative;
      else if (!this.accept("+")) break;
    }
    const value = this.#juxtaposed(inArgument);
    return negative ? s.negate(this.expression(value)) : value;
  }

  #juxtaposed(inArgument: boolean): Value {
    const first = this.#postfix();
    if (!s.isExpr(first) && this.beforeUnit()) return each(first, this.unit());
    if (!this.#startsFactor(inArgument)) return first;
    const terms: Expr[][] = [[this.expression(first)]];
    while (this.#startsFactor(inArgument)) {
      const unit = !this.pending && this.beforeUnit();
      const factor = unit ? this.unit() : this.expression(this.#postfix());
      const term = terms.at(-1)!;
      if (unit || !mentionsUnit(term.at(-1)!) || term.every(mentionsUnit)) term.push(factor);
      else terms.push([factor]);
    }
    if (terms.length === 1) return sideBySide(terms[0]!, this.options.strict);
    if (!terms.every((term) => term.some(mentionsUnit))) throw new SyntaxFault("a number after a unit");
    return s.sum(terms.map((term) => sideBySide(term, this.options.strict)));
  }

  #startsFactor(inArgument: boolean): boolean {
    if (this.pending) return true;
    const kind = this.peek();
    if (kind === "|") return this.bars === 0;
    return OPENERS.has(kind) && !(inArgument && FUNCTIONS.has(kind));
  }

  #postfix(): Value {
    let value = this.#powered();
    for (;;) {
      if (this.pending) return value;
      if (this.accept("!")) value = s.call("factorial", this.expression(value));
      else if (this.accept("degree")) value = this.#degrees(this.expression(value));
      else if (this.accept("transpose")) value = transpose(this.expression(value));
      else return value;
    }
  }

  #degrees(value: Expr): Expr {
    return this.options.strict && !mentionsUnit(value) ? degrees(value) : value;
  }

  #powered(): Value {
    let base = this.primary();
    while (!this.pending && this.accept("^")) {
      const exponent = this.exponent();
      if (this.peek() === "_") base = this.subscripted(this.expression(base));
      base = s.power(this.expression(base), exponent);
    }
    return base;
  }

  protected exponent(): Expr {
    if (this.accept("{")) return this.inside("}");
    if (this.accept("-")) return s.negate(this.exponent());
    if (this.peek() === "number") return numberOf(this.next().text);
    const named = NAMES.has(this.peek());
    const atom = named ? this.name(this.next()) : this.expression(this.primary());
    // x^{a^b}: a letter can have its own superscript, a number cannot.
    return this.accept("^") ? s.power(atom, this.exponent()) : atom;
  }
}

function transpose(e: Expr): Expr {
  if (e.kind !== "matrix") return e;
  return { kind: "matrix", rows: e.rows[0]!.map((_, j) => e.rows.map((row) => row[j]!)) };
}
