import { CallParser, type List } from "./call-parser.ts";
import { add, compare, isInteger, ONE, parseDecimal, subtract, ZERO } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault, type Token } from "./token.ts";

export interface ParseOptions {
  /** Read the letter i as the imaginary unit; capital I always is. */
  readonly imaginary: boolean;
  /** Only a proper fraction after an integer makes a mixed number; the reference also adds 2(3) to 5. */
  readonly properMixed: boolean;
  /** Receives both sides of each "a \\approx b" of which the value is a. */
  readonly approximations?: (readonly [Expr, Expr])[];
}

const MAX_DEPTH = 120;
const OPENERS = new Set(
  "number scientific percent letter symbol accent e infinity differential ( [ { {set | lvert norm lfloor lceil langle frac binom begin group function many operator sqrt integral series limit domain".split(
    " ",
  ),
);
const NAMES = new Set(["letter", "symbol", "accent"]);
/** Openers that end the argument of a function written without parentheses. */
const FUNCTIONS = new Set("function many operator sqrt integral series limit e".split(" "));

/** Sums, products, powers, functions: the part of the grammar between brackets and operators. */
export abstract class ExpressionParser extends CallParser {
  protected readonly options: ParseOptions;
  #depth = 0;
  /** Open |...| groups at this bracket level: a bar then closes rather than opens. */
  #bars = 0;
  /** A bracketed factor already read while deciding between f(x) and f times (x+1). */
  #pending: Expr | undefined;

  constructor(tokens: readonly Token[], options: ParseOptions) {
    super(tokens);
    this.options = options;
  }

  protected abstract list(): List;

  protected expression(value: Value = this.additive()): Expr {
    if (!s.isExpr(value)) throw new SyntaxFault(`a ${value.kind} where a number belongs`);
    return value;
  }

  /** A sum; anything else (a set, an interval) only when it stands alone. */
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
      const b = this.expression(this.#signed(inArgument));
      left = kind === "*" ? s.product([a, b]) : kind === "mod" ? s.call("mod", a, b) : s.quotient(a, b);
    }
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
    if (!this.#startsFactor(inArgument)) return first;
    const factors = [this.expression(first)];
    while (this.#startsFactor(inArgument)) factors.push(this.expression(this.#postfix()));
    return factors.reduceRight((rest, factor) => this.#beside(factor, rest));
  }

  #startsFactor(inArgument: boolean): boolean {
    if (this.#pending) return true;
    const kind = this.peek();
    if (kind === "|") return this.#bars === 0;
    return OPENERS.has(kind) && !(inArgument && FUNCTIONS.has(kind));
  }

  /** 2 1/3 is a sum, everything else side by side is a product. */
  #beside(left: Expr, right: Expr): Expr {
    if (
      s.isWhole(left) &&
      right.kind === "number" &&
      right.form !== "decimal" &&
      compare(right.value, ZERO) > 0
    ) {
      const proper = !isInteger(right.value) && compare(right.value, ONE) < 0;
      if (proper || !this.options.properMixed) {
        const join = compare(left.value, ZERO) < 0 ? subtract : add;
        return s.exact(join(left.value, right.value));
      }
    }
    return s.product([left, right]);
  }

  #postfix(): Value {
    let value = this.#powered();
    for (;;) {
      if (this.#pending) return value;
      if (this.accept("!")) value = s.call("factorial", this.expression(value));
      else if (this.accept("degree")) value = this.expression(value);
      else if (this.accept("transpose")) value = transpose(this.expression(value));
      else return value;
    }
  }

  #powered(): Value {
    let base = this.primary();
    while (!this.#pending && this.accept("^")) {
      const exponent = this.exponent();
      if (this.peek() === "_") base = this.#subscripted(this.expression(base));
      base = s.power(this.expression(base), exponent);
    }
    return base;
  }

  protected exponent(): Expr {
    if (this.accept("{")) return this.inside("}");
    if (this.accept("-")) return s.negate(this.exponent());
    if (this.peek() === "number") return numberOf(this.next().text);
    const named = NAMES.has(this.peek());
    const atom = named ? this.#name(this.next()) : this.expression(this.primary());
    // x^{a^b}: a letter takes its own superscript, a number does not.
    return this.accept("^") ? s.power(atom, this.exponent()) : atom;
  }

  #subscripted(base: Expr): Expr {
    const text = this.#subscript();
    return base.kind === "symbol" ? s.symbol(`${base.name}${text}`) : base;
  }

  /** "_1" or "_{10}" as part of a name; empty when there is none. */
  #subscript(): string {
    if (!this.accept("_")) return "";
    let text = "";
    if (!this.accept("{")) {
      const token = this.next();
      if (token.kind === "end") throw new SyntaxFault("open subscript");
      text = token.body ?? token.text;
    } else {
      for (let open = 1; ; ) {
        const token = this.next();
        if (token.kind === "end") throw new SyntaxFault("open subscript");
        if (token.kind === "{") open++;
        if (token.kind === "}" && --open === 0) break;
        text += token.kind === "differential" ? `d${token.text}` : (token.body ?? token.text);
      }
    }
    return text.length > 1 ? `_{${text}}` : `_${text}`;
  }

  protected primary(): Value {
    if (this.#pending) {
      const ready = this.#pending;
      this.#pending = undefined;
      return ready;
    }
    if (++this.#depth > MAX_DEPTH) throw new SyntaxFault("nested too deeply");
    const value = this.#primaryOf(this.next());
    this.#depth--;
    return value;
  }

  #primaryOf(token: Token): Value {
    switch (token.kind) {
      case "number":
        this.#subscript();
        return numberOf(token.text);
      case "percent":
        return { kind: "percent", of: numberOf(token.text) };
      case "scientific": {
        const [digits = "", exponent = "0"] = token.text.split("E");
        return s.number(parseDecimal(digits, Number(exponent)), "decimal");
      }
      case "letter":
      case "symbol":
      case "accent":
        return this.#applied(this.#name(token));
      case "e":
        return s.constant("e");
      case "infinity":
        return s.constant("infinity");
      case "differential":
        return s.symbol(`d${token.text}`);
      case "domain":
        return { kind: "domain", name: token.text as s.SetName };
      case "(":
      case "[":
        return this.#bracket(token.kind);
      case "{":
      case "{set":
        return this.#brace(token.kind === "{" ? "}" : "}set");
      case "group":
        this.expect("{");
        return this.#brace("}");
      default:
        return this.#construct(token);
    }
  }

  #construct(token: Token): Value {
    switch (token.kind) {
      case "|":
        return s.call("abs", this.#bar("|"));
      case "lvert":
        return s.call("abs", this.inside("rvert"));
      case "norm":
        return s.call("abs", this.inside("norm"));
      case "lfloor":
        return s.call("floor", this.inside("rfloor"));
      case "lceil":
        return s.call("ceil", this.inside("rceil"));
      case "frac": {
        const [above, below] = [this.argument(), this.argument()];
        return s.quotient(above, below);
      }
      case "binom": {
        const [above, below] = [this.argument(), this.argument()];
        return s.call("binomial", above, below);
      }
      case "sqrt": {
        const degree = this.accept("[") ? this.inside("]") : undefined;
        const base = this.argument();
        return s.power(base, degree === undefined ? s.HALF : s.quotient(s.whole(1), degree));
      }
      case "function":
        return this.function(token.text);
      case "operator":
        return this.operator(token.text);
      case "many":
        return this.many(token.text);
      case "integral":
      case "series":
      case "limit":
        return this.bound(token);
      case "begin":
        return this.matrix(token.text);
      default:
        throw new SyntaxFault(`unexpected ${token.text || token.kind}`);
    }
  }

  /** An expression up to its closing token, with bars counted afresh. */
  protected inside(close: string): Expr {
    const bars = this.#bars;
    this.#bars = 0;
    const inner = this.expression();
    this.#bars = bars;
    this.expect(close);
    return inner;
  }

  #bar(close: string): Expr {
    this.#bars++;
    const inner = this.expression();
    this.#bars--;
    this.expect(close);
    return inner;
  }

  protected argument(): Expr {
    if (this.accept("{")) return this.inside("}");
    return this.expression(this.primary());
  }

  protected listInside(): List {
    const bars = this.#bars;
    this.#bars = 0;
    const list = this.list();
    this.#bars = bars;
    return list;
  }

  #bracket(open: string): Value {
    const { groups, separators } = this.listInside();
    const close = this.next().kind;
    if (close !== ")" && close !== "]") throw new SyntaxFault("unbalanced bracket");
    const items = groups.flat();
    const [left, right] = items;
    if (
      separators === 1 &&
      groups.length === 1 &&
      items.length === 2 &&
      s.isExpr(left!) &&
      s.isExpr(right!)
    ) {
      return { kind: "interval", left, right, leftOpen: open === "(", rightOpen: close === ")" };
    }
    if ((open === "(") !== (close === ")")) throw new SyntaxFault("brackets of different kinds");
    return items.length === 1 ? items[0]! : { kind: "tuple", items };
  }

  #brace(close: string): Value {
    if (this.accept(close)) return { kind: "domain", name: "empty" };
    const { groups } = this.listInside();
    const items = groups.flat();
    const only = items[0]!;
    if (items.length === 1 && this.accept("choose")) {
      return s.call("binomial", this.expression(only), this.inside(close));
    }
    this.expect(close);
    if (items.length === 1 && (s.isExpr(only) || only.kind === "relation")) return only;
    return { kind: "set", items };
  }

  #name(token: Token): Expr {
    const name = nameOf(token) + this.#subscript();
    if (token.kind === "letter" && token.text === "I") return s.constant("i");
    if (this.options.imaginary && name === "i") return s.constant("i");
    if (name === "pi" || name === "Pi") return s.constant("pi");
    return s.symbol(name.toLowerCase());
  }

  /** f(x) and f(x, y+1) are applications; x(y+1) is a product. */
  #applied(subject: Expr): Expr {
    if (subject.kind !== "symbol" || !this.accept("(")) return subject;
    const items = this.listInside().groups.flat();
    this.expect(")");
    const args = items.map((item) => this.expression(item));
    const only = args[0]!;
    const atom = only.kind === "symbol" || (only.kind === "number" && compare(only.value, ZERO) >= 0);
    const power = only.kind === "power" && only.base.kind === "symbol";
    if (args.length > 1 || atom || power || only.kind === "constant" || only.kind === "percent") {
      return s.call(subject.name, ...args);
    }
    this.#pending = only;
    return subject;
  }
}

const numberOf = (text: string): Expr =>
  s.number(parseDecimal(text), text.includes(".") ? "decimal" : "integer");

function nameOf(token: Token): string {
  if (token.kind !== "accent") return token.text;
  const body = (token.body ?? "").replaceAll(" ", "");
  if (token.text.includes("text") || token.text === "mbox") return body.replace(/[()]/g, "");
  if (token.text === "bar" || token.text === "overline") return `bar{${body}}`;
  if (token.text === "vec" || token.text === "overrightarrow") return `vec{${body}}`;
  if (token.text.includes("tilde")) return `tilde{${body}}`;
  return token.text.startsWith("math") ? `math{${body}}` : `${token.text}{${body}}`;
}

function transpose(e: Expr): Expr {
  if (e.kind !== "matrix") return e;
  return { kind: "matrix", rows: e.rows[0]!.map((_, j) => e.rows.map((row) => row[j]!)) };
}
