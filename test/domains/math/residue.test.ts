import { expect, test } from "vitest";
import { residue } from "../../../lib/domains/math/residue.ts";
import { judgeOf } from "../../fixtures/judge.ts";

// Deliberate faults (mutants) that these tests detect: Number() without the pattern (" 3e0", "0x3", "" pass),
// comparison mod m (8 passes).

const judge = judgeOf(residue, { value: 3, modulus: 5 });

test("the residue is correct, spaces around it do not matter", async () => {
  for (const answer of ["3", " 3 ", "3\n"]) {
    expect(await judge(answer)).toEqual({ status: "correct", score: 1, reason: "residue" });
  }
});

test.each([
  ["2", "wrong", "another residue"],
  ["8", "wrong", "not a residue mod 5"],
  ["99999999999999999999", "wrong", "not a residue mod 5"],
  ["03", "unparsable", "not a plain integer"],
  ["+3", "unparsable", "not a plain integer"],
  ["-2", "unparsable", "not a plain integer"],
  ["3.0", "unparsable", "not a plain integer"],
  ["3e0", "unparsable", "not a plain integer"],
  ["0x3", "unparsable", "not a plain integer"],
  ["３", "unparsable", "not a plain integer"],
  ["3 3", "unparsable", "not a plain integer"],
  ["NaN", "unparsable", "not a plain integer"],
])("%j is %s: %s", async (answer, status, reason) => {
  expect(await judge(answer)).toEqual({ status, score: 0, reason });
});

test.each([null, {}, { value: 5, modulus: 5 }, { value: -1, modulus: 5 }, { value: 0.5, modulus: 5 }])(
  "reference %j is refused",
  (reference) => {
    expect(() => residue.parseReference(reference)).toThrow();
  },
);
