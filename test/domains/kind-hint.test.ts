import { expect, test } from "vitest";
import { kindHint, mapExample, recordedExample } from "../../lib/domains/kind-hint.ts";

// Mutants tried: of the closest kinds the last is taken, fields with null count, preferences are taken for a kind.

const FAULT = "field: invalid input: expected string, received undefined";
const hint = (row: unknown, fault: string | undefined = FAULT) =>
  kindHint(row, (kind) => fault && `${kind}.${fault}`);

test.each<[object, string]>([
  [{ data_source: "x", prompt: [], ability: "math" }, "verl"],
  [{ query: "q", tools: "[]" }, "xlam"],
  [{ problem: "p", starter_code: "", tests: null, verification_info: {} }, "code-tests"],
  [{ description: "p", checker: "", test_cases: [], generator_cmd: "" }, "code-contests-plus"],
  [{ question: "q", input_output: "{}" }, "taco"],
  [{ question: "q" }, "jsonl"],
  [{ prompt: "p", test: "t", entry_point: "f" }, "human-eval"],
  [{ prompt: "p", kwargs: [], instruction_id_list: [] }, "ifeval"],
])("%j is closest to %s, and the hint says what is missing", (row, kind) => {
  const fields = Object.entries(row).flatMap(([field, value]) => (value === null ? [] : [field]));
  expect(hint(row)).toBe(
    `The first row has ${fields.join(", ")}. Its rows are closest to ${kind}, but: ${kind}.field: missing (docs/reference/data.md has the shape). `,
  );
});

test("other faults are said as they are", () => {
  expect(hint({ query: "q" }, "answers: not JSON")).toContain("but: xlam.answers: not JSON (");
});

test("a row that is like none is said by its fields", () => {
  expect(hint({ a: 1, b: null, c: "" })).toBe("The first row has a, c. ");
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, 1]));
  expect(hint(many)).toMatch(/^The first row has f0, .*f11, \.\.\.\. $/);
  expect(hint({})).toBe("The first row has no field. ");
  for (const row of [null, undefined, "text", []]) expect(hint(row)).toBe("");
});

test.each<[object, string]>([
  [{ prompt: "p", chosen: "a", rejected: "b" }, "are preferences"],
  [{ system: "s", conversations: [] }, "configuration metadata"],
  [{ instruction: "i", input: "", output: "o" }, "supervised training"],
])("%j can be judged by nobody, and the hint says what to do", (row, words) => {
  expect(hint(row)).toContain(words);
});

test("a map for other columns takes the first two texts, by names that JavaScript can read", () => {
  expect(mapExample("a.jsonl", { id: [1], Frage: "1+1?", "die Antwort": 2, x: "y" })).toBe(
    'Rows with other columns are read through map: source: { kind: "jsonl", path: "a.jsonl", map: (row) => ({ question: row.Frage, answer: row["die Antwort"] }) }. ',
  );
  for (const row of [null, "text", ["a", "b"], { a: "b", c: null }]) expect(mapExample("a", row)).toBe("");
});

test.each<[object, string]>([
  [
    { messages: [{ role: "user" }, { role: "assistant" }] },
    "{ messages: row.messages, answer: row.messages.at(-1).content }",
  ],
  [
    { conversations: [{ from: "human" }, { from: "gpt" }] },
    "{ conversations: row.conversations, answer: row.conversations.at(-1).value }",
  ],
  [{ prompt: "p", completion: "c" }, "{ ...row, answer: row.completion }"],
])("of %j the recorded answer becomes the reference by a map", (row, map) => {
  expect(recordedExample("a.jsonl", row)).toBe(
    `If the recorded answers can be judged, a map makes them references: source: { kind: "jsonl", path: "a.jsonl", map: (row) => (${map}) }. `,
  );
});

test("a row without a recorded answer has no such map", () => {
  const asked = { messages: [{ role: "user" }] };
  for (const row of [null, "text", [], asked, { messages: [] }, { messages: "m" }, { completion: null }])
    expect(recordedExample("a", row)).toBe("");
});
