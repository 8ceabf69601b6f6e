// Tests printing and JSON as in Python. Deliberate faults (mutants) that these tests detect: 2.0 is read as 2;
// exponents are not padded; quotes are always single; keys are not sorted by code point.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byCodePoint, Float, readJson } from "../../../lib/text/jinja/values.ts";
import { render } from "./rendering.ts";

test.each([
  ["{{ t }} {{ z }} {{ missing }} {{ f }} {{ n }}", "True None  2.0 7"],
  ["{{ mixed }}", "[1, 'a', None, True, 2.5, {'k': [1.0]}]"],
  ["{{ map }}", "{'b': 1, 'a': {'x': 'y'}}"],
  ["{{ (1, 'x') }}", "(1, 'x')"],
  [
    "{{ \"it's\" }} {{ [\"it's\"] }} {{ ['say \"hi\"'] }} {{ ['a\\nb'] }}",
    "it's [\"it's\"] ['say \"hi\"'] ['a\\nb']",
  ],
  ["{{ 0.1 + 0.2 }} {{ 10 / 4 }} {{ 10 / 5 }} {{ 1.5 * 2 }}", "0.30000000000000004 2.5 2.0 3.0"],
  ["{{ e }} {{ {} }}", "[] {}"],
  ["{{ [text] }}", "[' \u00dcn\u00ef \ud83d\ude00 tEXT\\t']"],
])("%s", (source, rendered) => {
  expect(render(source)).toBe(rendered);
});

describe("JSON that keeps floats apart", () => {
  test("2.0 is a float, 2 is not, and text is text", () => {
    const text = String.raw`{"a": [2.0, 2, 2.5, -1e2], "b": "2.0 \"3.0", "c": {"d": 1E0}, "e": null}`;
    expect(readJson(text)).toEqual({
      a: [new Float(2), 2, 2.5, new Float(-100)],
      b: '2.0 "3.0',
      c: { d: new Float(1) },
      e: null,
    });
  });

  test("anything else is what JSON.parse gives", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const bare = (value: unknown): unknown =>
          JSON.parse(JSON.stringify(value, (_, v: unknown) => (v instanceof Float ? v.value : v)));
        expect(bare(readJson(text))).toEqual(bare(JSON.parse(text)));
      }),
    );
  });

  test.each(["{", "[1.0.0]", "1.0 2.0", ""])("%j is no JSON", (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });
});

test("strings are in the order of code points", () => {
  expect(["\u{1f600}", "\uffff", "b", "a", "aa", ""].sort(byCodePoint)).toEqual([
    "",
    "a",
    "aa",
    "b",
    "\uffff",
    "\u{1f600}",
  ]);
});
