import type { List } from "./call-parser.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { tokenize } from "./lexer.ts";
import type { ParseOptions } from "./name-parser.ts";
import { negate, parseDecimal } from "./rational.ts";
import { relationAsSet } from "./relations.ts";
import type { Comparison, Link, Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault } from "./token.ts";

const GROUPED_DIGITS = /^\s*-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*$/;
const COMPARISONS = new Set(["=", "<", "<=", ">", ">=", "!="]);

/**
 * Reads a normalised LaTeX answer: a number, an expression, a relation or chain of relations, a set, tuple or
 * interval, unions of these, or a list ("1, 2; 3") which is a set. Nothing is evaluated.
 * Throws SyntaxFault when it is none of them, Undefined for a literal division by zero.
 * Source: the grammar of latex2sympy2_extended as Math-Verify 0.8 uses it.
 */
export function parseAnswer(text: string, options: ParseOptions): Value {
  if (GROUPED_DIGITS.test(text)) {
    const digits = text.replace(/[\s,-]/g, "");
    const value = parseDecimal(digits);
    return s.number(text.includes("-") ? negate(value) : value, digits.includes(".") ? "decimal" : "integer");
  }
  return new AnswerParser(tokenize(text, options.strict), options).answer();
}

class AnswerParser extends ExpressionParser {
  #memberships = 0;
  #alternatives = 0;
  #conditions = 0;

  answer(): Value {
    const { groups, separators } = this.list();
    if (this.peek() !== "end" || this.next().text !== "") throw new SyntaxFault(`unexpected ${this.peek()}`);
    const items = groups.flat();
    const assigned = assignedList(items);
    const listed = this.#memberships > 0 && items.length > 1 && !assigned;
    if (listed && !this.options.strict) throw new SyntaxFault("membership in a list");
    if (assigned) return assigned;
    const either =
      this.#alternatives > 0 && this.#alternatives === separators ? joined("union", items) : undefined;
    const both =
      this.#conditions > 0 && this.#conditions === separators ? joined("intersection", items) : undefined;
    if (either ?? both) return (either ?? both)!;
    if (items.length === 1) return items[0]!;
    if (groups.length === 1 || groups.every((group) => group.length === 1)) return { kind: "set", items };
    return { kind: "set", items: groups.map((group) => ({ kind: "tuple", items: group })) };
  }

  protected list(): List {
    const groups: Value[][] = [[]];
    let separators = 0;
    for (;;) {
      groups.at(-1)!.push(...this.#element());
      if (this.options.strict && this.accept("lor")) this.#alternatives++;
      else if (this.options.strict && this.accept("land")) this.#conditions++;
      else if (this.accept(";")) groups.push([]);
      else if (!this.accept(",")) return { groups, separators };
      separators++;
    }
  }

  /** Parses one element, or the two values of "a \pm b". */
  #element(): readonly Value[] {
    if (this.accept("pm") || this.accept("mp")) {
      const e = this.expression();
      return [s.negate(e), e];
    }
    const value = this.#relation();
    return value.kind === "alternatives" ? value.items : [value];
  }

  #relation(): Value | Alternatives {
    let first = this.#operand();
    const links: Link[] = [];
    for (;;) {
      const kind = this.peek();
      if (COMPARISONS.has(kind)) {
        this.next();
        links.push(link(kind as Comparison, links.at(-1)?.right ?? plain(first), plain(this.#operand())));
      } else if (kind === "approx") {
        this.next();
        const right = this.expression(plain(this.#operand()));
        const left: Value = links.length ? { kind: "relation", links: [...links] } : plain(first);
        if (left.kind !== "relation") this.expression(left);
        const near = links.at(-1)?.right ?? left;
        if (s.onlySymbols(left)) {
          first = right;
          links.length = 0;
        } else if (s.isExpr(near)) this.options.approximations?.push([near, right]);
      } else if (kind === "in" || kind === "notin") {
        this.next();
        if (links.length) throw new SyntaxFault("membership in a chain");
        this.#memberships++;
        links.push(link(kind === "in" ? "=" : "!=", plain(first), plain(this.#operand())));
      } else break;
    }
    return links.length ? { kind: "relation", links } : first;
  }

  /** A sum, or sets joined by union, intersection and difference, loosest last. */
  #operand(): Value | Alternatives {
    if (this.options.strict && (this.accept("pm") || this.accept("mp"))) {
      const e = this.expression();
      return { kind: "alternatives", items: [s.negate(e), e] };
    }
    const left = this.#joined(0);
    if (this.peek() !== "pm" && this.peek() !== "mp") return left;
    this.next();
    const a = this.expression(left);
    const b = this.expression();
    return { kind: "alternatives", items: [s.sum([a, b]), s.sum([a, s.negate(b)])] };
  }

  #joined(level: number): Value {
    const operator = (["minus", "cup", "cap"] as const)[level];
    if (operator === undefined) return this.additive();
    let left = this.#joined(level + 1);
    while (this.accept(operator)) {
      const right = this.#joined(level + 1);
      const kind = operator === "minus" ? "difference" : operator === "cup" ? "union" : "intersection";
      left = { kind, left: asSet(left), right: asSet(right) };
    }
    return left;
  }
}

interface Alternatives {
  readonly kind: "alternatives";
  readonly items: readonly Value[];
}

const plain = (value: Value | Alternatives): Value =>
  value.kind === "alternatives" ? { kind: "set", items: value.items } : value;

/** The set of x for "x < 1 or x > 3" or "x > 1 and x < 3"; undefined if an item is not an inequality. */
function joined(kind: "union" | "intersection", items: readonly Value[]): Value | undefined {
  const sets = items.map((item) => (item.kind === "relation" ? relationAsSet(item, true) : undefined));
  if (!sets.every((set) => set !== undefined) || new Set(items.flatMap(namesIn)).size !== 1) return undefined;
  return sets.reduce((left, right): Value => ({ kind, left, right }));
}

/** The names in a relation: two inequalities on x and y do not define a set of numbers. */
const namesIn = (item: Value): readonly string[] =>
  item.kind === "relation"
    ? item.links.flatMap(({ left, right }) =>
        [left, right].filter(s.isExpr).flatMap((e) => [...s.freeSymbols(e)]),
      )
    : [];

function asSet(value: Value): Value {
  if (value.kind === "tuple") return { kind: "set", items: value.items };
  if (value.kind === "relation") throw new SyntaxFault("a relation in a set operation");
  return s.isExpr(value) ? { kind: "set", items: [value] } : value;
}

function link(operator: Comparison, left: Value, right: Value): Link {
  const ordered = operator !== "=" && operator !== "!=";
  if (ordered && !(s.isExpr(left) && s.isExpr(right))) throw new SyntaxFault(`${operator} between sets`);
  return { operator, left: names(left), right };
}

/** (x, y) on the left of "=" is a pair of names, not an interval. */
function names(left: Value): Value {
  if (left.kind !== "interval" || !left.leftOpen || !left.rightOpen) return left;
  return { kind: "tuple", items: [left.left, left.right] };
}

/** "x = 1, 2" gives x the set {1, 2}; "x = 1, y = 2" is a set of two equations. */
function assignedList(items: readonly Value[]): Value | undefined {
  const [first, ...rest] = items;
  if (rest.length === 0 || first?.kind !== "relation" || first.links.length !== 1) return undefined;
  const { operator, left, right } = first.links[0]!;
  const named = left.kind === "tuple" ? left.items.every(isName) : isName(left);
  if (operator !== "=" || !named || rest.some((item) => item.kind === "relation")) return undefined;
  const head = right.kind === "set" ? right.items : [right];
  return { kind: "relation", links: [{ operator, left, right: { kind: "set", items: [...head, ...rest] } }] };
}

const isName = (value: Value): boolean =>
  value.kind === "symbol" || (value.kind === "power" && value.base.kind === "symbol");
