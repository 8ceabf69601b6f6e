import { GroupParser } from "./group-parser.ts";
import { isText, numberOf } from "./name-parser.ts";
import { degrees, mentionsUnit, readUnit } from "./quantity.ts";
import { add, compare, isInteger, ONE, parseDecimal, subtract, ZERO } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault, type Token } from "./token.ts";
import { isCurrency } from "./unit-names.ts";

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
export abstract class ExpressionParser extends GroupParser {
  #depth = 0;

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
      const units = this.beforeUnit() && mentionsUnit(a);
      const b = units ? this.unit() : this.expression(this.#signed(inArgument));
      if (kind === ":" && this.options.strict && this.peek() === ":") return this.#ratio([a, b], inArgument);
      left = kind === "*" ? s.product([a, b]) : kind === "mod" ? s.call("mod", a, b) : divided(a, b);
    }
  }

  /** 3:4:5, equal to 6:8:10 and to nothing else. */
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
    if (terms.length === 1) return this.#side(terms[0]!);
    if (!terms.every((term) => term.some(mentionsUnit))) throw new SyntaxFault("a number after a unit");
    return s.sum(terms.map((term) => this.#side(term)));
  }

  /** Factors side by side; units do not come between the parts of a mixed number. */
  #side(factors: readonly Expr[]): Expr {
    const numbers = factors.filter((factor) => !mentionsUnit(factor));
    if (numbers.length === factors.length)
      return numbers.reduceRight((rest, factor) => this.#beside(factor, rest));
    const number =
      numbers.length === 0 ? [] : [numbers.reduceRight((rest, factor) => this.#beside(factor, rest))];
    return s.product([...number, ...factors.filter(mentionsUnit)]);
  }

  #startsFactor(inArgument: boolean): boolean {
    if (this.pending) return true;
    const kind = this.peek();
    if (kind === "|") return this.bars === 0;
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
      if (proper || !this.options.strict) {
        const join = compare(left.value, ZERO) < 0 ? subtract : add;
        return s.exact(join(left.value, right.value));
      }
    }
    return s.product([left, right]);
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
    // x^{a^b}: a letter takes its own superscript, a number does not.
    return this.accept("^") ? s.power(atom, this.exponent()) : atom;
  }

  protected primary(): Value {
    if (this.pending) {
      const ready = this.pending;
      this.pending = undefined;
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
        return this.numeral(token.text);
      case "percent":
        return { kind: "percent", of: numberOf(token.text) };
      case "scientific": {
        const [digits = "", exponent = "0"] = token.text.split("E");
        return s.number(parseDecimal(digits, Number(exponent)), "decimal");
      }
      case "letter":
      case "symbol":
      case "accent":
        if (this.options.strict && isText(token) && isCurrency(token.body ?? ""))
          return readUnit(token.body ?? "");
        return this.applied(this.name(token));
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
        return this.bracket(token.kind);
      case "{":
      case "{set":
        return this.brace(token.kind === "{" ? "}" : "}set");
      case "group":
        this.expect("{");
        return this.brace("}");
      default:
        return this.#construct(token);
    }
  }

  #construct(token: Token): Value {
    switch (token.kind) {
      case "langle":
        return this.angled();
      case "|":
        return s.call("abs", this.bar("|"));
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
}

/** A unit after a/b is the unit of both: 5/8 cm is no five eighths of 1/cm. */
function divided(a: Expr, b: Expr): Expr {
  const factors = b.kind === "product" && !mentionsUnit(a) ? b.factors : [b];
  const [units, others] = [factors.filter(mentionsUnit), factors.filter((factor) => !mentionsUnit(factor))];
  if (units.length === 0 || others.length === 0) return s.quotient(a, b);
  return s.product([s.quotient(a, s.product(others)), ...units]);
}

/** A unit after a tuple, an interval or a set is the unit of what it lists. */
function each(list: Value, unit: Expr): Value {
  const times = (item: Value): Value => (s.isExpr(item) ? s.product([item, unit]) : item);
  if (list.kind === "tuple" || list.kind === "set") return { ...list, items: list.items.map(times) };
  if (list.kind !== "interval") return list;
  return { ...list, left: s.product([list.left, unit]), right: s.product([list.right, unit]) };
}

function transpose(e: Expr): Expr {
  if (e.kind !== "matrix") return e;
  return { kind: "matrix", rows: e.rows[0]!.map((_, j) => e.rows.map((row) => row[j]!)) };
}
