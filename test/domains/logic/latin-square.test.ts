import { expect, test } from "vitest";
import { latinSquare } from "../../../lib/domains/logic/latin-square.ts";
import { judgeOf } from "../../fixtures/judge.ts";

// Deliberate faults (mutants) that these tests detect: no column check ("22" with the rows of the second table
// passes), no row check, no bound on the symbol (5 in a square of order 4 passes), blanks are filled column by
// column.

const judge = judgeOf(latinSquare, { rows: ["2341", "143_", "4123", "3_14"] });

test("the digits that complete the square, row by row, are correct", async () => {
  expect(await judge("22")).toEqual({ status: "correct", score: 1, reason: "latin square" });
});

test.each([
  ["21", "wrong", "a row repeats"],
  ["52", "wrong", "a row repeats"],
  ["2", "wrong", "1 digits for 2 blanks"],
  ["222", "wrong", "3 digits for 2 blanks"],
  ["2 2", "unparsable", "not a row of digits"],
  ["2_", "unparsable", "not a row of digits"],
  ["02", "unparsable", "not a row of digits"],
])("%j is %s: %s", async (answer, status, reason) => {
  expect(await judge(answer)).toEqual({ status, score: 0, reason });
});

test("any completion of an open square is correct, one that repeats in a column is not", async () => {
  const open = judgeOf(latinSquare, { rows: ["__", "__"] });
  expect((await open("1221")).status).toBe("correct");
  expect((await open("2112")).status).toBe("correct");
  expect(await open("1212")).toMatchObject({ status: "wrong", reason: "a column repeats" });
});

test.each([{}, { rows: ["12", "2"] }, { rows: ["1"] }, { rows: ["0_", "__"] }])(
  "reference %j is refused",
  (reference) => {
    expect(() => latinSquare.parseReference(reference)).toThrow();
  },
);
