import { expect, test } from "vitest";
import { jsonFault } from "../../lib/data/json-fault.ts";

// Mutants tried, each detected: every comma is cut, minus Infinity stays, every brace is taken for a dict of Python's.

test.each([
  ['{"question": "1+1?", "answer": 2},', "not JSON: a comma after the row"],
  ['{"question": "1+1?"} , \r', "not JSON: a comma after the row"],
  ['{"answer": NaN}', "not JSON: NaN or Infinity; write null"],
  ['{"a": [1, -Infinity], "b": NaN }', "not JSON: NaN or Infinity; write null"],
  [
    "{'question': '1+1?', 'answer': None}",
    "not JSON: a dict as Python prints it; json.dumps(row) writes a row of JSON",
  ],
  ['{"question": "1+1?", "answer": ,}', "not JSON"],
  ['{"question": ": NaN,"', "not JSON"],
  ["question,answer", "not JSON"],
  ['{"a": [NaN,NaN, NaN]}', "not JSON: NaN or Infinity; write null"],
  ['{"a": "x, ", "b": 1},', "not JSON: a comma after the row"],
  ['{"a": "1", "b" 2}', "not JSON"],
  ['{"a": ": NaN, ", "b"}', "not JSON"],
  ["", "not JSON"],
])("%j", (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});

test("a row of megabytes of white space takes no time that grows with its square", () => {
  const blank = " ".repeat(4 << 20);
  for (const text of [`{"a":${blank}x`, `{"a": 1,${blank}x`, `{"a": NaN${blank}x`, `${blank}x`])
    expect(jsonFault(text)).toBe("not JSON");
});
