// Deliberate faults (mutants) that these tests detect: commas separate at depth >= 1 instead of === 1; a backslash
// skips one byte.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { elementSpans } from "../../lib/data/json-array.ts";

const elementsOf = (json: string): string[] => {
  const bytes = Buffer.from(json);
  return [...elementSpans(bytes)].map(({ start, end }) => bytes.toString("utf8", start, end));
};

test("elements are the texts between the commas of the outer list, digits as they stand", () => {
  const json = ' [ 1.0, 12345678901234567890 ,"a,]\\"é" ,[1,[2,{"k":"}"}]],{"x" : [3,4]}, null ] ';
  expect(elementsOf(json)).toEqual([
    "1.0",
    "12345678901234567890",
    '"a,]\\"é"',
    '[1,[2,{"k":"}"}]]',
    '{"x" : [3,4]}',
    "null",
  ]);
});

test("a parser of the parts agrees with a parser of the whole", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(3), (values, indent) => {
      const json = JSON.stringify(values, null, indent);
      expect(elementsOf(json).map((text) => JSON.parse(text))).toEqual(JSON.parse(json));
    }),
  );
});

describe("refuses", () => {
  test.each([
    ["", /not a JSON array/],
    ["3", /not a JSON array/],
    ['{"a": 1}', /not a JSON array/],
    ["[1, 2", /JSON that is cut off/],
    ['["a', /JSON that is cut off/],
    ['["a\\"]', /JSON that is cut off/],
    ["[1] [2]", /further text after its end, at byte 3/],
    ["[1, ]", /no value follows a comma/],
    ["[".repeat(1001), /deeper than 1000/],
  ])("%j", (json, message) => {
    expect(() => elementsOf(json)).toThrow(
      expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
    );
  });
});

test("no text makes it hang or throw anything but a data error", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'[]{},:"\\1 a') }), (json) => {
      try {
        for (const { start, end } of elementSpans(Buffer.from(json)))
          expect(end).toBeGreaterThanOrEqual(start);
      } catch (error) {
        expect(error).toMatchObject({ code: "HONE_ERR_DATA" });
      }
    }),
    { numRuns: 500 },
  );
});
