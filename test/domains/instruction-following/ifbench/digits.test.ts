// Deliberate faults (mutants) that these tests detect: superscripts are left out; numerals are accepted; one digit is
// enough.
import { expect, test } from "vitest";
import { isDigits } from "../../../../lib/domains/instruction-following/ifbench/digits.ts";

test("digits are those of Python's isdigit, in every place", () => {
  const texts = ["7", "42", "٣٤", "²", "x²", "①", "4②", "½", "Ⅻ", "1.5", "-1", "", "７", "𝟘", "🄀", "一"];
  expect(texts.filter(isDigits)).toEqual(["7", "42", "٣٤", "²", "①", "4②", "７", "𝟘", "🄀"]);
});
