import { expect, test } from "vitest";
import { jsonAt } from "../../lib/data/raw-row.ts";

// Deliberate faults (mutants) that these tests detect: the parsed value replaces the text, JSON inside strings is not
// searched, null is returned as text.

const row = (text: string) => ({ file: "x", row: 1, value: JSON.parse(text) as unknown, text });

test("a place in a row is the file's own text, through texts that hold JSON", () => {
  const inner = JSON.stringify('{"inputs": [[1.0, 12345678901234567890]]}');
  const text = `{"a": {"b": {"inputs": [1.0]}}, "t": {"b": ${inner}}, "n": null, "w": "words"}`;
  expect(jsonAt(row(text), ["a", "b"])).toBe('{"inputs": [1.0]}');
  expect(jsonAt(row(text), ["t", "b", "inputs"])).toBe("[[1.0, 12345678901234567890]]");
  for (const path of [["n"], ["x"], ["n", "b"], ["w", "b"], ["a", "b", "inputs", "x"]])
    expect(jsonAt(row(text), path)).toBeUndefined();
});

test("of columns it is their values as JSON, but for integers that no number can hold", () => {
  const columns = (b: unknown) => ({ file: "x", row: 1, value: { a: { b } } });
  expect(jsonAt(columns([{ input: "1" }]), ["a", "b"])).toBe('[{"input":"1"}]');
  expect(jsonAt(columns([2n ** 60n]), ["a", "b"])).toBeUndefined();
});
