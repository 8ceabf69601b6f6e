import * as q from "./rational.ts";
import type { Expr } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault } from "./token.ts";
import { isPhrase, namedUnit, SCALES } from "./unit-names.ts";

/** Units are symbols with this mark before their name, so that they multiply, divide and cancel as symbols do. */
const MARK = "unit:";
const unitSymbol = (name: string): Expr => s.symbol(`${MARK}${name}`);
export const isUnitName = (symbol: string): boolean => symbol.startsWith(MARK);
const isUnitSymbol = (e: Expr): e is Extract<Expr, { kind: "symbol" }> =>
  e.kind === "symbol" && isUnitName(e.name);
export const mentionsUnit = (e: Expr): boolean => s.contains(e, isUnitSymbol);

const POWERS = new Map([
  ["square", 2],
  ["squared", 2],
  ["sq", 2],
  ["cubic", 3],
  ["cubed", 3],
  ["cu", 3],
]);

/**
 * The meaning of a text after a number: a unit ("cm", "km/h", "square feet"), a scale ("million"), or the things
 * counted ("distinct roots"). Throws SyntaxFault for words that change the meaning of the number: "is wrong", "or 7".
 */
export function readUnit(body: string): Expr {
  const text = body
    .replaceAll(".", "")
    .replace(/^\s*\(|\)\s*$/g, "")
    .trim();
  const [first = "", ...rest] = text.split(/\s+/);
  const scale = SCALES.get(first.toLowerCase());
  if (scale !== undefined) {
    const number = s.whole(BigInt(scale));
    return rest.length === 0 ? number : s.product([number, readUnit(rest.join(" "))]);
  }
  const [above = "", ...below] = text.split(/\s*(?:\/|\bper\b)\s*/);
  const factors = [above, ...below].map((part, i) => unitProduct(part, i === 0 ? 1 : -1));
  if (factors.every((factor) => factor !== undefined)) return s.product(factors);
  if (!isPhrase(text)) throw new SyntaxFault(`text after a number: ${text}`);
  return unitSymbol(counted(text));
}

function unitProduct(text: string, sign: 1 | -1): Expr | undefined {
  const factors: Expr[] = [];
  let exponent = 1;
  for (const word of text.split(/[\s·*]+/)) {
    const power = POWERS.get(word.toLowerCase());
    const [, name = "", digits = "1"] = /^(.*?)(?:\^\{?(-?\d)\}?|([²³]))?$/.exec(word) ?? [];
    if (power !== undefined && factors.length > 0 && word.endsWith("ed")) {
      factors.push(s.power(factors.pop()!, s.whole(power)));
    } else if (power !== undefined) exponent = power;
    else if (namedUnit(name) === undefined) return undefined;
    else {
      const times = sign * exponent * Number(digits);
      factors.push(times === 1 ? unitSymbol(name) : s.power(unitSymbol(name), s.whole(times)));
      exponent = 1;
    }
  }
  return factors.length === 0 || exponent !== 1 ? undefined : s.product(factors);
}

/** The head of a phrase in the singular: "blue marbles in the bag" counts marbles. */
function counted(phrase: string): string {
  const head = phrase.toLowerCase().split(/\s+(?:of|in|for|on|at|with|that|which)\s+/)[0]!;
  const noun = head.split(/\s+/).at(-1)!;
  return PLURALS.get(noun) ?? noun.replace(/ies$/, "y").replace(/(?<=[sxz]|ch|sh)es$|(?<!s)s$/, "");
}
const PLURALS = new Map([
  ["men", "man"],
  ["women", "woman"],
  ["children", "child"],
  ["people", "person"],
]);

interface Unit {
  /** Size in base units; a degree is pi/180. */
  readonly size: Expr;
  readonly dimension: string;
  /** True if combined from several units ("3 hours 20 minutes"): the value is meaningless without them. */
  readonly mixed: boolean;
}
interface Quantity {
  readonly value: Expr;
  readonly unit: Unit | undefined;
}

const ANGLE = "rad^1";
const DEGREE: Expr = s.quotient(s.constant("pi"), s.whole(180));

/** Value and unit of an expression; undefined if its units do not form a quantity: 5 cm + 3 s. */
function quantityOf(e: Expr): Quantity | undefined {
  if (!mentionsUnit(e)) return { value: e, unit: undefined };
  if (e.kind === "sum") return total(e.terms);
  const factors = e.kind === "product" ? e.factors : [e];
  const others = factors.filter((factor) => !mentionsUnit(factor));
  const units = unitPowers(factors.filter(mentionsUnit), 1);
  if (units === undefined) return undefined;
  const value = others.length === 0 ? s.whole(1) : s.product(others);
  const dimension = dimensionOf(units);
  const size = s.product([
    s.whole(1),
    ...units.map(({ size, exponent }) => s.power(size, s.whole(exponent))),
  ]);
  return { value, unit: dimension === "" ? undefined : { size, dimension, mixed: false } };
}

interface UnitPower {
  readonly base: string;
  readonly size: Expr;
  readonly exponent: number;
}

function unitPowers(factors: readonly Expr[], exponent: number): readonly UnitPower[] | undefined {
  const powers: UnitPower[] = [];
  for (const e of factors) {
    const whole = e.kind === "power" && s.isWhole(e.exponent) ? Number(e.exponent.value.n) : undefined;
    let inner: readonly UnitPower[] | undefined;
    if (isUnitSymbol(e)) inner = [unitPower(e, exponent)];
    else if (e.kind === "product") inner = unitPowers(e.factors, exponent);
    else if (e.kind === "power" && whole !== undefined) inner = unitPowers([e.base], exponent * whole);
    if (inner === undefined) return undefined;
    powers.push(...inner);
  }
  return powers;
}

function unitPower(e: Extract<Expr, { kind: "symbol" }>, exponent: number): UnitPower {
  const name = e.name.slice(MARK.length);
  const known = namedUnit(name);
  if (known === undefined) return { base: name, size: s.whole(1), exponent };
  const [above = "1", below = "1"] = known.size.split("/");
  const size = known.size === "degree" ? DEGREE : s.exact(q.rational(BigInt(above), BigInt(below)));
  return { base: known.base, size, exponent };
}

/** The dimension of a product of units, as text: "m^1 s^-1". */
function dimensionOf(units: readonly UnitPower[]): string {
  const exponents = new Map<string, number>();
  for (const { base, exponent } of units) {
    for (const [i, part] of base.split("/").entries()) {
      const [name = "", digits = "1"] = part.split("^");
      if (name === "") continue;
      const power = exponent * Number(digits) * (i === 0 ? 1 : -1);
      exponents.set(name, (exponents.get(name) ?? 0) + power);
    }
  }
  const written = [...exponents].filter(([, exponent]) => exponent !== 0).map(([name, k]) => `${name}^${k}`);
  return written.sort().join(" ");
}

/** A sum of quantities. A unit after the last term applies to the sum; angles may omit some of their degree signs. */
function total(terms: readonly Expr[]): Quantity | undefined {
  const parts = terms.map(quantityOf);
  if (!parts.every((part) => part !== undefined)) return undefined;
  const units = parts.map(({ unit }) => unit).filter((unit) => unit !== undefined);
  const [first] = units;
  if (first === undefined) return { value: s.sum(parts.map(({ value }) => value)), unit: undefined };
  const whole = units.length === 1 && parts.at(-1)!.unit !== undefined;
  if (units.some(({ dimension }) => dimension !== first.dimension)) return undefined;
  if (units.length < parts.length && !whole && first.dimension !== ANGLE) return undefined;
  const same = units.every(({ size, mixed }) => !mixed && s.sameExpr(size, first.size));
  if (same) return { value: s.sum(parts.map(({ value }) => value)), unit: first };
  const value = s.sum(parts.map(({ value, unit }) => s.product([value, unit?.size ?? s.whole(1)])));
  return { value, unit: { size: s.whole(1), dimension: first.dimension, mixed: true } };
}

/**
 * The pairs of plain expressions of which at least one must be equal for two quantities to be equal. A unit that only
 * one side has is dropped, two units must be of one kind and are converted, an angle is read in degrees or in
 * radians, and an upright letter is read as a unit or as that letter. None if the units contradict each other.
 */
export function comparable(gold: Expr, answer: Expr): readonly (readonly [Expr, Expr])[] {
  const [inGold, inAnswer] = [mentionsUnit(gold), mentionsUnit(answer)];
  if (!inGold && !inAnswer) return [[gold, answer]];
  const letters = [asLetters(gold, answer), asLetters(answer, gold)] as const;
  const upright = letters[0] || letters[1] ? [[letters[0] ?? gold, letters[1] ?? answer] as const] : [];
  const spelled = inAnswer ? answer : asUnits(answer);
  return [...upright, ...quantitiesCompared(gold, spelled)];
}

function quantitiesCompared(gold: Expr, answer: Expr): readonly (readonly [Expr, Expr])[] {
  const [g, a] = [quantityOf(gold), quantityOf(answer)];
  if (g === undefined || a === undefined) return [];
  if (g.unit && a.unit) {
    if (g.unit.dimension !== a.unit.dimension) return [];
    return [s.sameExpr(g.unit.size, a.unit.size) ? [g.value, a.value] : [inBase(g), inBase(a)]];
  }
  const unit = g.unit ?? a.unit;
  if (unit?.mixed) return [];
  const plain = [g.value, a.value] as const;
  return unit?.dimension === ANGLE ? [plain, [inBase(g), inBase(a)]] : [plain];
}

const inBase = ({ value, unit }: Quantity): Expr => (unit ? s.product([value, unit.size]) : value);

/** The expression with its units read as variables, if the second expression has these variables (12 V is then 12·V). */
function asLetters(e: Expr, other: Expr): Expr | undefined {
  const letters = s.freeSymbols(other);
  const units = [...s.freeSymbols(e)].filter(isUnitName).map((name) => name.slice(MARK.length));
  const lettered = units.map((name) => [name, name.toLowerCase()].find((letter) => letters.has(letter)));
  if (units.length === 0 || lettered.includes(undefined)) return undefined;
  return units.reduce((done, name, i) => s.substitute(done, `${MARK}${name}`, s.symbol(lettered[i]!)), e);
}

/** The answer with its letters read as units, if they all are: 3h for 3 hours. */
function asUnits(e: Expr): Expr {
  const letters = [...s.freeSymbols(e)];
  const names = letters.map((letter) => [letter, letter.toUpperCase()].find((name) => namedUnit(name)?.base));
  if (names.includes(undefined)) return e;
  return letters.reduce((done, letter, i) => s.substitute(done, letter, unitSymbol(names[i]!)), e);
}

/** Replaces degrees by their value in radians, for the argument of a function. */
export const inRadians = (e: Expr): Expr => s.substitute(e, `${MARK}°`, DEGREE);

/** The expression without its unit, if any: the number to compare with an approximation. */
export const withoutUnit = (e: Expr): Expr => quantityOf(e)?.value ?? e;
export const degrees = (e: Expr): Expr => s.product([e, unitSymbol("°")]);
