// Deliberate faults (mutants) that these tests detect: a doubled quote stays doubled; a blank line is dropped; text
// after a closing quote is dropped; an open quote at the end is refused; a lone carriage return is text; the field
// limit is one lower.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCsv } from "../../lib/python/csv.ts";

test.each<[string, string, string[][] | undefined]>([
  [
    "fields and rows",
    "a,b\nc,d\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "empty fields",
    "a,,\n,",
    [
      ["a", "", ""],
      ["", ""],
    ],
  ],
  ["nothing", "", []],
  ["blank lines", "\na\n\n", [[], ["a"], []]],
  ["quoted delimiters and line ends", '"a,b","c\nd"\n', [["a,b", "c\nd"]]],
  ["doubled quotes", '"a""b",""""\n', [['a"b', '"']]],
  ["text after a closed quote", '"a"b"c,d', [['ab"c', "d"]]],
  ["a quote inside bare text", 'a"b",c', [['a"b"', "c"]]],
  ["blanks before a quote", ' "a,b"', [[' "a', 'b"']]],
  ["an open quote", 'a,"b\nc', [["a", "b\nc"]]],
  ["a quote opened at the very end", 'a,"', [["a", ""]]],
  ["carriage returns at line ends", "a\r\nb\r\r\n", [["a"], ["b"]]],
  ["a carriage return inside a line", "a\rb\n", undefined],
  ["a carriage return inside quotes", '"a\rb"\n', [["a\rb"]]],
  ["three quotes", '"""a"""', [['"a"']]],
])("reads %s", (_, text, rows) => {
  expect(parseCsv(text, ",")).toEqual(rows);
});

test("a tab can part fields", () => {
  expect(parseCsv('a,b\t"c\td"\n', "\t")).toEqual([["a,b", "c\td"]]);
});

test("a field over its limit is an error", () => {
  expect(parseCsv("x".repeat(131_072), ",")).toEqual([["x".repeat(131_072)]]);
  expect(parseCsv("x".repeat(131_073), ",")).toBeUndefined();
});

test("what is written with every field quoted is read back", () => {
  const field = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", " ", "é") });
  fc.assert(
    fc.property(fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), (rows) => {
      const text = rows
        .map((row) => `${row.map((f) => `"${f.replaceAll('"', '""')}"`).join(",")}\n`)
        .join("");
      expect(parseCsv(text, ",")).toEqual(rows);
    }),
  );
});
