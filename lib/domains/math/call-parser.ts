import { NameParser } from "./name-parser.ts";
import { inRadians } from "./quantity.ts";
import { equals, integer } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault, type Token } from "./token.ts";

/** Content of a bracket: elements grouped by ";", and the number of separators. */
export interface List {
  readonly groups: readonly (readonly Value[])[];
  readonly separators: number;
}

/** Parses functions, series, integrals, limits and matrices: everything opened by a command. */
export abstract class CallParser extends NameParser {
  protected abstract expression(value?: Value): Expr;
  /** A product; in the argument of a function written without parentheses it stops before the next function. */
  protected abstract term(inArgument: boolean): Value;
  protected abstract primary(): Value;
  /** Parses a group in braces, or one factor. */
  protected abstract argument(): Expr;
  protected abstract inside(close: string): Expr;
  protected abstract listInside(): List;

  protected function(name: string): Expr {
    let base: Expr | undefined;
    let exponent: Expr | undefined;
    for (;;) {
      if (base === undefined && this.accept("_")) base = this.argument();
      else if (exponent === undefined && this.accept("^")) exponent = this.exponent();
      else break;
    }
    const arg = this.accept("(") ? this.inside(")") : this.expression(this.term(true));
    const inverse =
      exponent?.kind === "number" && equals(exponent.value, integer(-1)) && INVERTIBLE.has(name);
    const value = functionCall(inverse ? `arc${name}` : name, inRadians(arg), base);
    return exponent === undefined || inverse ? value : s.power(value, exponent);
  }

  protected operator(name: string): Expr {
    return OPERATORS.has(name) ? this.function(name) : this.many(name);
  }

  protected many(name: string): Expr {
    if (!MANY.has(name)) throw new SyntaxFault(`unknown operator ${name}`);
    const exponent = this.accept("^") ? this.exponent() : undefined;
    this.expect("(");
    const args = this.listInside()
      .groups.flat()
      .map((item) => this.expression(item));
    this.expect(")");
    const value = s.call(name, ...args);
    return exponent === undefined ? value : s.power(value, exponent);
  }

  protected bound(token: Token): Expr {
    if (token.kind === "limit") return this.#limit();
    let variable = "x";
    let from: Expr | undefined;
    let to: Expr | undefined;
    for (;;) {
      if (from === undefined && this.accept("_")) {
        if (token.kind === "integral") from = this.argument();
        else {
          this.expect("{");
          variable = symbolName(this.expression());
          this.expect("=");
          from = this.inside("}");
        }
      } else if (to === undefined && this.accept("^")) to = this.exponent();
      else break;
    }
    if (token.kind === "integral") return this.#integral(from, to);
    const body = this.expression(this.term(false));
    return { kind: "bound", operator: token.text as "sum" | "product", variable, body, from, to };
  }

  #integral(from: Expr | undefined, to: Expr | undefined): Expr {
    const written = this.peek() === "differential" ? s.whole(1) : this.expression();
    let variable = this.peek() === "differential" ? this.next().text : undefined;
    const factors = written.kind === "product" ? [...written.factors] : [written];
    const last = factors.at(-1)!;
    if (variable === undefined && last.kind === "symbol" && /^d.$/.test(last.name)) {
      variable = last.name.slice(1);
      factors.pop();
    }
    const body = factors.length === 0 ? s.whole(1) : s.product(factors);
    return { kind: "bound", operator: "integral", variable: (variable ?? "x").toLowerCase(), body, from, to };
  }

  #limit(): Expr {
    this.expect("_");
    this.expect("{");
    const variable = symbolName(this.expression(this.primary()));
    this.expect("to");
    const to = this.inside("}");
    return {
      kind: "bound",
      operator: "limit",
      variable,
      body: this.expression(this.term(false)),
      from: undefined,
      to,
    };
  }

  protected matrix(type: string): Expr {
    const rows: Expr[][] = [[]];
    for (;;) {
      rows.at(-1)!.push(this.expression());
      if (this.accept("&")) continue;
      if (this.accept("row") && this.peek() !== "end" && this.#endOfMatrix() === undefined) {
        rows.push([]);
        continue;
      }
      break;
    }
    if (this.#endOfMatrix() === undefined) throw new SyntaxFault("open matrix");
    this.next();
    if (rows.some((row) => row.length !== rows[0]!.length)) throw new SyntaxFault("ragged matrix");
    return type === "vmatrix" ? determinant(rows) : { kind: "matrix", rows };
  }

  #endOfMatrix(): string | undefined {
    const token = this.upcoming();
    return token.kind === "end" && token.text !== "" ? token.text : undefined;
  }
}

/** Functions of several arguments, and functions of one argument written `\operatorname{...}`. */
const MANY = new Set(["gcd", "lcm", "max", "min"]);
const OPERATORS = new Set("arsinh arcosh artanh arcsinh arccosh arctanh floor ceil".split(" "));
const INVERTIBLE = new Set("sin cos tan csc sec cot sinh cosh tanh".split(" "));

function symbolName(e: Expr): string {
  if (e.kind !== "symbol") throw new SyntaxFault("expected a variable");
  return e.name;
}

function functionCall(name: string, arg: Expr, base: Expr | undefined): Expr {
  if (name === "ln") return base === undefined ? s.call("ln", arg) : logarithm(arg, base);
  if (name === "log") return logarithm(arg, base ?? s.whole(10));
  if (name === "exp") return s.power(s.constant("e"), arg);
  if (name === "det") {
    if (arg.kind !== "matrix") throw new SyntaxFault("determinant of no matrix");
    return determinant(arg.rows);
  }
  if (/^ar(sin|cos|tan)h$/.test(name)) return s.call(`arc${name.slice(2)}`, arg);
  return s.call(name, arg);
}

const logarithm = (arg: Expr, base: Expr): Expr => s.quotient(s.call("ln", arg), s.call("ln", base));

function determinant(rows: readonly (readonly Expr[])[]): Expr {
  if (rows.length !== rows[0]!.length) throw new SyntaxFault("determinant of a matrix that is not square");
  if (rows.length > 4) throw new SyntaxFault("determinant too large");
  const [first, ...rest] = rows;
  if (rest.length === 0) return first![0]!;
  const terms = first!.map((entry, j) => {
    const minor = determinant(rest.map((row) => row.filter((_, k) => k !== j)));
    const term = s.product([entry, minor]);
    return j % 2 === 0 ? term : s.negate(term);
  });
  return s.sum(terms);
}
