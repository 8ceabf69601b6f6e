import { expect, test } from "vitest";
import { truthTable } from "../../../lib/domains/logic/truth-table.ts";
import { judgeOf } from "../../fixtures/judge.ts";

const judge = judgeOf(truthTable, { table: "0111" });

test("the whole table is correct", async () => {
  expect(await judge("0111")).toEqual({ status: "correct", score: 1, reason: "truth table" });
});

test.each([
  ["0110", "wrong", "another truth table"],
  ["111", "wrong", "3 bits for 4 assignments"],
  ["00111", "wrong", "5 bits for 4 assignments"],
  ["0 1 1 1", "unparsable", "not a row of bits"],
  ["FTTT", "unparsable", "not a row of bits"],
  ["0121", "unparsable", "not a row of bits"],
])("%j is %s: %s", async (answer, status, reason) => {
  expect(await judge(answer)).toEqual({ status, score: 0, reason });
});

test.each([{}, { table: "" }, { table: "012" }, { table: 111 }])("reference %j is refused", (reference) => {
  expect(() => truthTable.parseReference(reference)).toThrow();
});
