// Deliberate faults (mutants) that these tests detect: a number is read as a double, a quote after two backslashes
// counts as escaped, a comma before the closing bracket is accepted, the first of equal members is kept, control
// characters are accepted.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { elementsOf, type JsonMaker, membersOf, readJsonText } from "../../../lib/shared/text/json-text.ts";

/** Keeps numbers as written; gives everything else as JSON.parse does. */
const LITERAL: JsonMaker<unknown> = {
  constant: (value) => value,
  number: (digits, isInteger) => ({ digits, isInteger }),
  string: (text) => text,
  list: (items) => items,
  object: (members) => Object.fromEntries(members),
  maxDepth: 100,
};
const AS_PARSED: JsonMaker<unknown> = { ...LITERAL, number: (digits) => Number(digits) };

test.each([
  ["9007199254740993", true],
  ["-0", true],
  ["123456789012345678901234567890", true],
  ["1.0", false],
  ["-0.10", false],
  ["1E+2", false],
  ["0.1000000000000000055511151231257827021181583404541015625", false],
])("the number %s keeps its digits", (digits, isInteger) => {
  expect(readJsonText(` ${digits}\n`, LITERAL)).toEqual({ digits, isInteger });
  expect(readJsonText(`[${digits}, {"a":${digits}}]`, LITERAL)).toEqual([
    { digits, isInteger },
    { a: { digits, isInteger } },
  ]);
});

describe("agrees with JSON.parse", () => {
  test("on every value, however it is laid out", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(readJsonText(text, AS_PARSED)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("on strings of any characters and escapes, lone surrogates among them", () => {
    const piece = fc.oneof(
      fc.constantFrom('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u00e9", "\\ud83d\\ude00"),
      fc.constantFrom("\\ud800", "\\uDFFF", "\ud800", "\u007f", "\u2028", "é", "😀", "[", "]", "{", "}", ","),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = `"${pieces.join("")}"`;
        expect(outcome(() => readJsonText(text, AS_PARSED))).toEqual(outcome(() => JSON.parse(text)));
      }),
      { numRuns: 1000 },
    );
  });

  test("on what is no JSON", () => {
    const damage = fc.tuple(
      fc.nat(60),
      fc.constantFrom("", ",", "}", "]", '"', "{", "1", " ", "\\", "e", "\n", "."),
    );
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), damage, (value, [at, put]) => {
        const text = JSON.stringify(value);
        const damaged = text.slice(0, at) + put + text.slice(at + 1);
        expect(outcome(() => readJsonText(damaged, AS_PARSED))).toEqual(outcome(() => JSON.parse(damaged)));
      }),
      { numRuns: 1000 },
    );
  });

  test("on texts of JSON's own signs in any order", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]{},:"\\10 -.eatrufl\t\n') }), (text) => {
        expect(outcome(() => readJsonText(text, AS_PARSED))).toEqual(outcome(() => JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });
});

/** The value, or the kind of error. */
function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return (error as Error).name;
  }
}

test("equal keys all reach the maker, in order, and no key is special", () => {
  const members: JsonMaker<unknown> = { ...AS_PARSED, object: (all) => all };
  expect(readJsonText('{"a": 1, "__proto__": 2, "a": 3}', members)).toEqual([
    ["a", 1],
    ["__proto__", 2],
    ["a", 3],
  ]);
});

test("a dialect's words are values, and nobody else's", () => {
  const dialect: JsonMaker<unknown> = { ...AS_PARSED, words: new Map([["-Infinity", "low"]]) };
  expect(readJsonText("[-Infinity]", dialect)).toEqual(["low"]);
  for (const text of ["Infinity", "-Infinity1", "-Infinit"])
    expect(() => readJsonText(text, dialect)).toThrow(SyntaxError);
  expect(() => readJsonText("-Infinity", AS_PARSED)).toThrow(SyntaxError);
});

test.each([
  ["[1,]", "no value at character 4"],
  ['{"a" 1}', "no : at character 6"],
  ["[1", "no , at character 3"],
  ["1 2", "more behind its end at character 3"],
  ['["a\\x"]', "no string at character 2"],
  ["[nul]", "no value at character 2"],
  ["[".repeat(102), "nested deeper than 100 at character 102"],
])("%j is refused with the place", (text, message) => {
  expect(() => readJsonText(text, LITERAL)).toThrow(new SyntaxError(message));
});

describe("parts", () => {
  test("elements are the texts between the commas of the outer list, digits as they stand", () => {
    const json = ' [ 1.0, 12345678901234567890 ,"a,]\\"b" ,[1,[2,{"k":"}"}]],{"x" : [3,4]}, null ] ';
    expect(elementsOf(json)).toEqual([
      "1.0",
      "12345678901234567890",
      '"a,]\\"b"',
      '[1,[2,{"k":"}"}]]',
      '{"x" : [3,4]}',
      "null",
    ]);
  });

  test("members are texts by key; of a repeated key the last one stands, as in every JSON parser", () => {
    const json = '{"a": 1.0, "b\\n": "x:y\\\\", "a": [2, 3], "__proto__": {"z": 1}}';
    expect([...membersOf(json)]).toEqual([
      ["a", "[2, 3]"],
      ["b\n", '"x:y\\\\"'],
      ["__proto__", '{"z": 1}'],
    ]);
  });

  test("a parser of the parts agrees with a parser of the whole", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.nat(3), (values, indent) => {
        const json = JSON.stringify(values, null, indent);
        expect(elementsOf(json).map((text) => JSON.parse(text))).toEqual(JSON.parse(json));
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        const parts = [...membersOf(json)].map(([key, text]) => [key, JSON.parse(text)] as const);
        expect(Object.fromEntries(parts)).toEqual(JSON.parse(json));
      }),
    );
  });

  test.each(['{"a" 1}', "{1: 2}", "[1]", '{"a": 1, }', '{"a": ]}', "3", "", '{"a": [1', '{"a'])(
    "%j is no object",
    (json) => {
      expect(() => membersOf(json)).toThrow(expect.objectContaining({ code: "HONE_ERR_DATA" }));
    },
  );

  test.each(['{"a": 1}', "", "[1, 2", '["a', '["a\\"]', "[1] [2]", "[1,]", "[,1]"])(
    "%j is no array",
    (json) => {
      expect(() => elementsOf(json)).toThrow(expect.objectContaining({ code: "HONE_ERR_DATA" }));
    },
  );

  test("no text makes it hang or throw anything but a data error", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]{},:"\\1 a') }), (json) => {
        for (const take of [elementsOf, membersOf]) {
          try {
            take(json);
          } catch (error) {
            expect(error).toMatchObject({ code: "HONE_ERR_DATA" });
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a million escaped quotes and backslashes take time linear in their number", () => {
    for (const unit of ['\\"', "\\\\", "[", '"",']) {
      const json = `["${unit.repeat(1_000_000)}`;
      expect(() => elementsOf(json)).toThrow(expect.objectContaining({ code: "HONE_ERR_DATA" }));
    }
  });
});
