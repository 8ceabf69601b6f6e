import { expect, test } from "vitest";
import { DATASETS, isDatasetKind, parseDatasetSpec } from "../../lib/domains/index.ts";

test.each([
  ["orz:a/b.json", { kind: "open-reasoner-zero", path: "a/b.json" }],
  ["taco:data:1.parquet", { kind: "taco", path: "data:1.parquet" }],
  ["lcb:../x", { kind: "live-code-bench", path: "../x" }],
  ["orz:", undefined],
  ["orz", undefined],
  ["file:///a.ts", undefined],
  ["procedural/math", undefined],
  ["toString:x", undefined],
  ["__proto__:x", undefined],
  [":x", undefined],
])("%s", (text, spec) => {
  expect(parseDatasetSpec(text)).toEqual(spec);
});

test("kinds are those of the table, not of every object", () => {
  expect(Object.keys(DATASETS).every(isDatasetKind)).toBe(true);
  expect(["orz", "toString", "__proto__", ""].some(isDatasetKind)).toBe(false);
});
