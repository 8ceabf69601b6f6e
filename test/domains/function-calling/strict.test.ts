// Deliberate faults (mutants) that these tests detect: a truncated block of tags counts as a refusal, any call counts
// for relevance, blank text counts as a refusal.
import { expect, test } from "vitest";
import type { Calls } from "../../../lib/domains/call.ts";
import { readEntry } from "../../../lib/domains/function-calling/entry.ts";
import { STRICT } from "../../../lib/domains/function-calling/strict.ts";
import type { FinishReason } from "../../../lib/records.ts";

const functions = [{ name: "a.b", parameters: { properties: {} } }];
const entry = (category: string, ground_truth?: unknown) =>
  readEntry({ id: "x", category, function: functions, ground_truth });
const SIMPLE = entry("simple_python", [{ "a.b": {} }]);
const made = (name: string, ended = true): Calls => ({
  kind: "calls",
  ended,
  calls: [{ name, arguments: new Map(), positional: 0 }],
});
const none: Calls = { kind: "none", reason: "none" };
const malformed: Calls = { kind: "malformed", reason: "no JSON" };

test.each([
  ["a list of calls that was cut off", SIMPLE, "python", made("a.b"), "length", "no_answer"],
  ["a closed block of tags that was cut off behind", SIMPLE, "tool_calls", made("a_b"), "length", undefined],
  ["calls whose end is not written", SIMPLE, "tool_calls", made("a_b", false), "length", "no_answer"],
  ["tags that were cut off", SIMPLE, "tool_calls", none, "abort", "no_answer"],
  ["a list of calls", SIMPLE, "python", made("x"), "eos", undefined],
  ["a refusal", entry("irrelevance"), "python", none, "eos", undefined],
  [
    "relevance: a function that is offered",
    entry("live_relevance"),
    "tool_calls",
    made("a_b"),
    "eos",
    undefined,
  ],
  ["relevance: one that is not", entry("live_relevance"), "tool_calls", made("c"), "eos", "wrong"],
  [
    "relevance: tags that cannot be read",
    entry("live_relevance"),
    "tool_calls",
    malformed,
    "eos",
    "unparsable",
  ],
] as const)("%s", (_, row, dialect, calls, finish: FinishReason, status) => {
  const text = calls.kind === "none" ? "Nothing here helps." : "<tool_calls>";
  expect(STRICT.decide!(row, { text, dialect, calls }, { text, finish })?.status).toBe(status);
});

test("an empty refusal is no answer, and no share of the calls earns anything", () => {
  const reading = { text: " ", dialect: "python", calls: none } as const;
  expect(STRICT.decide!(entry("irrelevance"), reading, { text: " ", finish: "eos" })?.status).toBe(
    "no_answer",
  );
  expect(STRICT.creditFor(0.9)).toBe(0);
});
