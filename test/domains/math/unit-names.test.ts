import { expect, test } from "vitest";
import {
  bareUnits,
  currencyWords,
  isCurrency,
  isPhrase,
  namedUnit,
} from "../../../lib/domains/math/unit-names.ts";

// Deliberate faults (mutants) that these tests detect: single letters are units, meaningful words are allowed,
// abbreviations match in any case.

test.each([
  ["12 cm", "12 \\text{cm}"],
  ["60 km/h", "60 \\text{km/h}"],
  ["5 apples", "5 \\text{apples}"],
  ["\\frac{1}{2} hours", "\\frac{1}{2} \\text{hours}"],
  ["5 m", "5 m"],
  ["2t", "2t"],
  ["3ab", "3ab"],
  ["5 or 6", "5 or 6"],
  ["2\\sin x", "2\\sin x"],
  ["a + b + c", "a + b + c"],
])("%j is %j", (text, expected) => expect(bareUnits(text)).toBe(expected));

test("names are those of units, in their own case where they are short", () => {
  expect(namedUnit("cm")).toEqual({ base: "m", size: "1/100" });
  expect(namedUnit("Hours")).toEqual(namedUnit("h"));
  expect([namedUnit("CM"), namedUnit("apples")]).toEqual([undefined, undefined]);
});

test.each([
  ["distinct integer solutions", true],
  ["apples", true],
  ["is wrong", false],
  ["or rather", false],
  ["2 of them", false],
  ["one two three four five six seven", false],
])("%j is a phrase: %s", (text, expected) => expect(isPhrase(text)).toBe(expected));

test("signs of currencies become their words", () => {
  expect(currencyWords("€5")).toBe("\\text{euros}5");
  expect([isCurrency("euros"), isCurrency("cm")]).toEqual([true, false]);
});
