import { expect, test } from "vitest";
import { jsonFault } from "../../lib/data/json-fault.ts";

// Mutants tried: a comma is cut anywhere, NaN inside a text counts, every brace is taken for a dict of Python's.

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
  ["", "not JSON"],
])("%j", (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});
