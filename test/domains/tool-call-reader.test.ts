// Deliberate faults (mutants) that these tests detect: only the last of all blocks is read, an unclosed block is
// read, a second form is ignored, the whole text is read although it has marks.
import { describe, expect, test } from "vitest";
import { looksMarked, readMarkedCalls } from "../../lib/domains/tool-call-reader.ts";
import { toPlain } from "../../lib/python/value.ts";

/** Returns [name, {argument: value}] of each call, or what was read instead. */
function read(text: string, reading: { forgiving?: boolean } = {}): unknown {
  const found = readMarkedCalls(text, { isText: () => false, ...reading });
  if (found.kind !== "calls") return `${found.kind}: ${found.reason}`;
  return found.calls.map((call) => [
    call.name,
    Object.fromEntries([...call.arguments].map(([name, value]) => [name, toPlain(value)])),
  ]);
}
const inTags = (json: string) => `<tool_calls>${json}</tool_calls>`;
const one = (json: string) => `<tool_call>\n${json}\n</tool_call>`;
const F1 = '{"name": "f", "arguments": {"a": 1}}';
const G = '{"name": "g", "arguments": {}}';
const F = [["f", { a: 1 }]];
const BOTH = [...F, ["g", {}]];
const TWO_FORMS = "malformed: marks of calls in more than one form";
const NO_END = "malformed: a block of calls that does not end";

describe("which blocks count", () => {
  test.each([
    ["text around them is passed over", `I call ${one(F1)} now.`, F],
    ["all, in order", `${one(F1)}\nand\n${one(G)}`, BOTH],
    ["of lists the last", `${inTags("[]")} and ${inTags(F1)}`, F],
    ["of lists the last that is not blank", `${inTags(F1)}${inTags(" \n")}`, F],
    ["tags in any case", `<TOOL_CALLS>${F1}</Tool_Calls>`, F],
    ["marks of tokens in one case", `[tool_calls][${F1}]`, "none: no calls"],
    ["blank ones are none", one(""), "none: empty block of calls"],
    ["an empty list is none", inTags("[]"), "none: no calls in the block"],
    ["one that cannot be read spoils the rest", `${one(F1)}${one("{")}`, "malformed: not JSON"],
    ["a list opened twice", `<tool_calls>x<tool_calls>${F1}</tool_calls>`, "malformed: not JSON"],
    ["a list that does not end", `<tool_calls>[${F1}]`, NO_END],
    ["a call that does not end", `<tool_call>${F1}`, NO_END],
    ["one that does not end behind one that does", `${one(F1)}<tool_call>`, NO_END],
    ["a mark alone", "<tool_call>", NO_END],
    ["an end alone", `</tool_calls>${F1}`, "none: no calls"],
    ["an end too many", `${inTags(F1)}</tool_calls>`, TWO_FORMS],
    ["two forms", `${one(F1)}${inTags(`[${G}]`)}`, TWO_FORMS],
    ["two forms, one of them a token", `[TOOL_CALLS][${F1}]<|python_tag|>{}`, "malformed: not JSON"],
    ["two forms of one mark", `${one(F1)}${one("g")}`, "malformed: not JSON"],
    ["Granite's list needs no end", `<tool_call>[${F1}, ${G}]`, BOTH],
    ["Mistral's needs none either", `So: [TOOL_CALLS] [${F1}, ${G}]`, BOTH],
    ["each with Mistral's mark", '[TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS]g[ARGS]{}', BOTH],
    [
      "gpt-oss's after its analysis",
      '<|channel|>analysis<|message|>Call f.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}',
      F,
    ],
    [
      "gpt-oss's to a role",
      '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
      F,
    ],
    [
      "Command R's in a fence",
      `Plan: I ask.\nAction: \`\`\`json\n[{"tool_name": "f", "parameters": {"a": 1}}]\n\`\`\``,
      F,
    ],
    ["a token behind it", '<function=f>{"a": 1}</function><|eom_id|>', F],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

describe("forms without marks are the whole text", () => {
  const LLAMA = '{"name": "f", "parameters": {"a": 1}}';
  test.each([
    ["Llama's", ` ${LLAMA}\n`, F],
    ["Llama's with its token", `<|python_tag|>${LLAMA}`, F],
    ["Python's", "[f(a=1), g()]", BOTH],
    ["GLM-4's", 'f\n{"a": 1}', F],
    ["but not in a sentence", `I call ${LLAMA}.`, "none: no calls"],
    ["nor another object", '{"answer": 1}', "none: no calls"],
    ["nor a list of calls", `[${F1}]`, "none: no calls"],
    ["nor a list of numbers", "[1, 2]", "none: no calls"],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

test("a forgiving reading takes the end of the text for the end of a block", () => {
  expect(read(`<tool_call>${F1}`, { forgiving: true })).toEqual(F);
  expect(read(`<tool_call>${F1} so`, { forgiving: true })).toBe("malformed: not JSON");
});

test("calls are ended where their last mark is written", () => {
  const ended = (text: string) => {
    const found = readMarkedCalls(text, { isText: () => false });
    return found.kind === "calls" && found.ended;
  };
  expect(ended(one(F1))).toBe(true);
  for (const text of [`<tool_call>[${F1}]`, `[TOOL_CALLS][${F1}]`, "[f(a=1)]"])
    expect(ended(text)).toBe(false);
});

test("a text looks marked by a mark or by how it begins; a list in Python is another dialect", () => {
  expect(
    [one(""), "x <tool_calls>", '{"a"', 'f\n{"a"', "x [TOOL_CALLS]"].every((text) => looksMarked(text)),
  ).toBe(true);
  expect(["[f(a=1)]", "f", "x {", "", "tool_call"].some((text) => looksMarked(text))).toBe(false);
});

test.each([
  ["openings", "<tool_calls>".repeat(100_000)],
  ["blocks", inTags(F1).repeat(50_000)],
  ["calls", one(F1).repeat(20_000)],
  ["tags", `<tool_call>f${"<arg_key>a".repeat(15_000)}</tool_call>`],
  ["brackets", inTags("[".repeat(1_000_000))],
  ["angles", "<".repeat(10_000_000)],
  ["marks without end", `[TOOL_CALLS]`.repeat(100_000)],
  ["actions", "Action: \n".repeat(100_000)],
])("megabytes of %s are read or refused in bounded time", (_, text) => {
  const begun = process.cpuUsage();
  read(text);
  expect(process.cpuUsage(begun).user).toBeLessThan(10e6); // microseconds; quadratic time would take hours
});
