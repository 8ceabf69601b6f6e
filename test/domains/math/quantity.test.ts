import { describe, expect, test } from "vitest";
import { comparable, readUnit, withoutUnit } from "../../../lib/domains/math/quantity.ts";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";
import { expression, show } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: units of two kinds are compared by value, nothing is
// converted, the unit of a mixed quantity is dropped, a unit letter is never a letter, degrees are only angles, the
// exponent applies to the whole of km/h.

describe("a text after a number", () => {
  test.each([
    ["cm", "unit:cm"],
    [" km/h", "(* unit:km (^ unit:h -1))"],
    ["miles per hour", "(* unit:miles (^ unit:hour -1))"],
    ["square feet", "(^ unit:feet 2)"],
    ["sq. cm", "(^ unit:cm 2)"],
    ["meters squared", "(^ unit:meters 2)"],
    ["m/s^2", "(* unit:m (^ unit:s -2))"],
    ["million", "1000000"],
    ["million dollars", "(* 1000000 unit:dollars)"],
    ["distinct real roots", "unit:root"],
    ["blue marbles in the bag", "unit:marble"],
    ["men", "unit:man"],
  ])("%j is %j", (text, expected) => expect(show(readUnit(text))).toBe(expected));

  test.each(["is wrong, 4", "or 7", "is not", "times", "2 of them", "more or less"])("%j is none", (text) =>
    expect(() => readUnit(text)).toThrow(SyntaxFault),
  );
});

const pairs = (gold: string, answer: string) =>
  comparable(expression(gold), expression(answer)).map((pair) => pair.map(show).join(" | "));

test.each<[string, string, string[]]>([
  ["5", "6", ["5 | 6"]],
  ["5\\text{ cm}", "5", ["5 | 5"]],
  ["5", "5\\text{ cm}", ["5 | 5"]],
  ["5\\text{ cm}", "5\\text{ centimeters}", ["5 | 5"]],
  ["5\\text{ cm}", "5\\text{ kg}", []],
  ["5\\text{ cm}", "5\\text{ cm}^2", []],
  ["5\\text{ apples}", "5\\text{ pears}", []],
  ["5\\text{ units}", "5\\text{ cm}", ["5 | 5"]],
  ["3\\text{ h }20\\text{ min}", "200", []],
  ["12V", "12\\text{ V}", ["(* 12 v) | (* 12 v)", "(* 12 v) | 12"]],
  ["5\\text{ cm}+3\\text{ s}", "8", []],
  ["2+x\\text{ cm}", "2+x", ["(+ 2 x) | (+ 2 x)"]],
])("%s and %s: %j", (gold, answer, expected) => expect(pairs(gold, answer)).toEqual(expected));

test("an angle is its degrees or its radians", () => {
  expect(pairs("30^\\circ", "x")).toEqual(["30 | x", "(* 30 1 (^ (* pi (^ 180 -1)) 1)) | x"]);
});

test("the value without its unit", () => {
  expect(show(withoutUnit(expression("5\\text{ cm}")))).toBe("5");
  expect(show(withoutUnit(expression("5x")))).toBe("(* 5 x)");
});
