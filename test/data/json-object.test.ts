import { expect, test } from "vitest";
import { arrayInObject } from "../../lib/data/json-object.ts";

// Deliberate faults (mutants) that these tests detect: any list taken for the rows, a table taken for a row, lines
// taken for one object.

const rowsIn = (text: string) => {
  const found = arrayInObject("x.json", Buffer.from(text));
  return found && JSON.parse(found.toString());
};
const rows = [{ question: "é", answer: "1" }, { question: "b" }];

test("rows inside an object are those of its list of objects that has a usual name", () => {
  expect(rowsIn(JSON.stringify({ version: "1", data: rows }))).toEqual(rows);
  expect(rowsIn(JSON.stringify({ train: rows, notes: [{ a: 1 }] }, null, 2))).toEqual(rows);
});

test("any other object is a row, on one line or several", () => {
  const row = { messages: [{ role: "user", content: "q" }], tools: [{ name: "f" }], answer: "2" };
  expect(rowsIn(JSON.stringify(row))).toEqual([row]);
  expect(rowsIn(`${JSON.stringify(row, null, 2)}\n\n`)).toEqual([row]);
  const two = { train: rows, data: rows };
  expect(rowsIn(JSON.stringify(two))).toEqual([two]);
});

test("an object a line, and what is no JSON, are left to the reader of lines", () => {
  expect(rowsIn('{"data": [{"a": 1}]}\n{"data": [{"a": 2}]}')).toBeUndefined();
  expect(rowsIn('{"a":\n{"a": 2}')).toBeUndefined();
  expect(rowsIn("")).toBeUndefined();
  const latin1 = Buffer.from('{"data": [{"a": "\xe9"}]}', "latin1");
  expect(arrayInObject("x.json", latin1)).toBeUndefined();
});

test.each([
  ["columns as lists", { question: ["a", "b"], answer: [1, 2] }],
  ["columns by row number, as pandas writes them", { question: { 0: "a", 1: "b" }, answer: { 0: 1, 1: 2 } }],
])("%s are refused with their names, and with what writes rows", (_, table) => {
  expect(() => rowsIn(JSON.stringify(table, null, 1))).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_DATA",
      message: "x.json is one object with a list for each column (question, answer); rows are expected",
      hint: expect.stringContaining('orient="records"') as string,
    }),
  );
});
