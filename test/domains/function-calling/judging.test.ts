// Deliberate faults (mutants) that these tests detect: strict gives partial credit, tags accept dots, strict accepts
// any call for relevance, a truncated response counts as a refusal, strict reads the reasoning, Unjudgeable is
// rethrown.
import { describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { functionCalling } from "../../../lib/domains/function-calling/verify.ts";

const functions = ["geo.area", "geo.length"].map((name) => ({
  name,
  parameters: { type: "dict", properties: { side: { type: "integer" } }, required: ["side"] },
}));
const row = (category: string, ground_truth?: unknown, extra?: object) => ({
  id: "x",
  category,
  function: functions,
  ground_truth,
  ...extra,
});
const AREA = (side: number) => ({ "geo.area": { side: [side] } });
const SIMPLE = row("simple_python", [AREA(7)]);
const PARALLEL = row("parallel", [AREA(7), AREA(8)]);

function judge(
  entry: unknown,
  text: string,
  compat: Compat = "strict",
  more: object = {},
  finish: "eos" | "length" = "eos",
) {
  const reference = functionCalling.parseReference({ entry, compat, ...more });
  return functionCalling.verify({ text, finish }, reference);
}
const inTags = (json: string) => `<tool_calls>${json}</tool_calls>`;
const call = (side: number, name = "geo_area") => `{"name": "${name}", "arguments": {"side": ${side}}}`;

test("empty tags call nothing", () => {
  for (const compat of ["reference", "strict"] as const)
    expect(judge(SIMPLE, inTags(""), compat)).toMatchObject({ status: "no_answer", score: 0 });
});

describe("both dialects, told by the tags", () => {
  test.each([
    [inTags(call(7)), "correct", "valid"],
    [inTags(`[${call(7)}]`), "correct", "valid"],
    [inTags(call(7, "geo.area")), "wrong", "simple_function_checker:wrong_func_name"],
    [inTags(call(8)), "wrong", "value_error:others"],
    [inTags('{"geo_area": {"side": 7.0}}'), "wrong", "type_error:simple"],
    ["[geo.area(side=7)]", "correct", "valid"],
    ["geo.area(side=7)", "correct", "valid"],
    ["[geo_area(side=7)]", "wrong", "simple_function_checker:wrong_func_name"],
    ["[geo.area(side=7.0)]", "wrong", "type_error:simple"],
    ["The area is 49.", "no_answer", "decoder_failed"],
    ["", "no_answer", "no calls"],
  ])("%s", (text, status, reason) => {
    for (const compat of ["reference", "strict"] as const)
      expect(judge(SIMPLE, text, compat)).toEqual({ status, score: status === "correct" ? 1 : 0, reason });
  });

  test("a dialect that is asked for is the only one read", () => {
    const asked = { dialect: "tool_calls" };
    expect(judge(SIMPLE, "[geo.area(side=7)]", "reference", asked)).toMatchObject({ status: "no_answer" });
    expect(judge(SIMPLE, "[geo.area(side=7)]", "strict", asked)).toMatchObject({ status: "wrong" });
    expect(judge(SIMPLE, "[geo_area(side=7)]", "strict", asked)).toMatchObject({ status: "correct" });
    expect(judge(SIMPLE, "geo_area(side=7)", "strict", asked)).toMatchObject({ status: "no_answer" });
    expect(judge(SIMPLE, inTags(call(7)), "strict", { dialect: "python" })).toMatchObject({
      status: "unparsable",
      reason: "decoder_failed",
    });
  });
});

test("calls of Java and JavaScript functions are in their own syntax", () => {
  const typed = (category: string, types: Record<string, object>, allowed: object) =>
    row(category, [{ "a.b": allowed }], {
      function: [{ name: "a.b", parameters: { properties: types, required: ["x"] } }],
    });
  const java = typed("simple_java", { x: { type: "long" }, y: { type: "String" } }, { x: [5], y: ["k v"] });
  expect(judge(java, '[a.b(x=5L, y="k v")]')).toMatchObject({ status: "correct" });
  expect(judge(java, '[a.b(x=5, y="k v")]')).toMatchObject({ status: "wrong", reason: "type_error:simple" });
  const array = { x: { type: "array", items: { type: "integer" } } };
  const javascript = typed("simple_javascript", array, { x: [[1, 2]] });
  expect(judge(javascript, "[a.b(x=[1, 2])]")).toMatchObject({ status: "correct" });
  expect(judge(javascript, "[a.b(x=[2, 1])]")).toMatchObject({ status: "wrong" });
});

describe("the modes differ", () => {
  test("in credit for some of several calls", () => {
    expect(judge(PARALLEL, inTags(call(7)), "reference")).toEqual({
      status: "wrong",
      score: 0.5,
      reason: "parallel_function_checker_no_order:wrong_count",
    });
    expect(judge(PARALLEL, inTags(call(7)))).toMatchObject({ status: "wrong", score: 0 });
  });

  test("in calls of a thought", () => {
    const thought = `<think>${inTags(call(7))}</think>done`;
    expect([judge(SIMPLE, thought, "reference"), judge(SIMPLE, thought)]).toMatchObject([
      { status: "correct" },
      { status: "no_answer" },
    ]);
  });

  test("in what cannot be read", () => {
    expect([
      judge(SIMPLE, inTags("[{name: x}]"), "reference"),
      judge(SIMPLE, inTags("[{name: x}]")),
    ]).toMatchObject([{ status: "no_answer" }, { status: "unparsable" }]);
  });

  test("never in giving full credit to what is not all right", () => {
    const extra = inTags(`[${call(7)}, ${call(8)}, ${call(9)}]`);
    const { status, score } = judge(PARALLEL, extra, "reference") as { status: string; score: number };
    expect([status, score < 1, score > 1 - 1e-9]).toEqual(["wrong", true, true]);
  });
});

describe("irrelevance: no call", () => {
  const NONE = row("irrelevance");
  test.each([
    ["I cannot help with these functions.", "correct", "correct"],
    [inTags("[]"), "correct", "correct"],
    ["geo.area(side=7)", "wrong", "wrong"],
    [inTags(call(7)), "wrong", "wrong"],
    [inTags("[{name: x}]"), "correct", "unparsable"],
    ["", "correct", "no_answer"],
    ["<think>hm</think> ", "correct", "no_answer"],
    ["<think>hm", "correct", "no_answer"],
    ["\u200b", "correct", "no_answer"],
    ["<think>hm</think>\u3164\u2800", "correct", "no_answer"],
    [".", "correct", "no_answer"],
    ["***\n---", "correct", "no_answer"],
  ])("%j", (text, reference, strict) => {
    const both = [judge(NONE, text, "reference"), judge(NONE, text)];
    expect(both.map((verdict) => (verdict as { status: string }).status)).toEqual([reference, strict]);
  });

  test("a response that was cut off is no refusal and no list of calls", () => {
    const statuses = (["reference", "strict"] as const).map((compat) =>
      judge(NONE, "I think", compat, {}, "length"),
    );
    expect(statuses).toMatchObject([
      { status: "correct" },
      { status: "no_answer", reason: "response not finished" },
    ]);
    expect(judge(NONE, "I", "strict", { dialect: "tool_calls" }, "length")).toMatchObject({
      status: "no_answer",
    });
    expect(judge(SIMPLE, "[geo.area(side=7)", "strict", {}, "length")).toMatchObject({ status: "no_answer" });
    expect(judge(SIMPLE, inTags(call(7)), "strict", {}, "length")).toMatchObject({ status: "correct" });
  });
});

describe("relevance: some call", () => {
  const SOME = row("live_relevance");
  test.each([
    [inTags(call(1)), "correct", "correct"],
    [inTags(call(1, "geo.length")), "correct", "correct"],
    ["geo.length()", "correct", "correct"],
    [inTags(call(1, "made_up")), "correct", "wrong"],
    ["I cannot.", "no_answer", "no_answer"],
    ["", "no_answer", "no_answer"],
  ])("%j", (text, reference, strict) => {
    const both = [judge(SOME, text, "reference"), judge(SOME, text)];
    expect(both.map((verdict) => (verdict as { status: string }).status)).toEqual([reference, strict]);
  });
});

test("what the reference's check breaks on is unparsable", () => {
  const odd = row("simple_python", [AREA(7)], {
    function: [{ name: "f", parameters: { properties: { a: { type: "object" } }, required: [] } }],
    ground_truth: [{ f: { a: [1] } }],
  });
  expect(judge(odd, "f(a=1)", "reference")).toEqual({
    status: "unparsable",
    score: 0,
    reason: "no python type object",
  });
});

test("names that are special to JavaScript are plain names", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    for (const text of [
      inTags(`{"${name}": {"side": 7}}`),
      `${name}(side=7)`,
      inTags(`{"geo_area": {"side": 7, "${name}": 1}}`),
    ])
      expect(judge(SIMPLE, text)).toMatchObject({ status: "wrong", score: 0 });
  }
});

test("large ints are compared exactly", () => {
  const entry = JSON.stringify(row("simple_python", [{ "geo.area": { side: [7] } }])).replace(
    "[7]",
    "[9007199254740993]",
  );
  expect(judge(entry, "geo.area(side=9007199254740993)")).toMatchObject({ status: "correct" });
  expect(judge(entry, "geo.area(side=9007199254740992)")).toMatchObject({ status: "wrong" });
});
