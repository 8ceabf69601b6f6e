import { expect, test } from "vitest";
import { readLatex, readStrictly } from "../../../lib/domains/math/reading.ts";
import { show } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: no second attempt after "=", the markers of complex numbers
// are ignored, strict keeps ~.

const read = (text: string, strict: boolean) => {
  const { value, parsed, text: normal } = (strict ? readStrictly : readLatex)(text);
  return [normal, value && show(value), parsed];
};

test("text is normalised and read", () => {
  expect(read("\\dfrac12", true)).toEqual(["\\frac{1}{2}", "1/2", true]);
  expect(read("\\foo", true)).toEqual(["\\foo", undefined, false]);
});

test("a chain that is no expression is read from its last equality", () => {
  expect(read("\\foo=x=5", false)).toEqual(["\\foo=x=5", "5", true]);
});

test("1/0 parses but has no value", () =>
  expect(read("\\frac{1}{0}", true)).toEqual(["\\frac{1}{0}", undefined, true]));

test("strict always reads i as imaginary, the reference where it stands alone", () => {
  const imaginary = (text: string, strict: boolean) => {
    const { value } = (strict ? readStrictly : readLatex)(text);
    return value?.kind === "product" && value.factors.some((f) => f.kind === "constant");
  };
  expect([imaginary("5i", true), imaginary("5i", false), imaginary("5 i", false)]).toEqual([
    true,
    false,
    true,
  ]);
});

test("a tie is a space in strict and a fault in the reference", () => {
  expect([read("5~x", true)[2], read("5~x", false)[2]]).toEqual([true, false]);
});
