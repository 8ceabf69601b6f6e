import { expect, test } from "vitest";
import { toolCall } from "../../../lib/domains/function-calling/tool-call.ts";
import { judgeOf } from "../../fixtures/judge.ts";

// Deliberate faults (mutants) that these tests detect: values are compared with == (quoted numbers pass), repeated
// names are not checked, the size is not compared (a missing argument passes), a plain object replaces the Map.

const judge = judgeOf(toolCall, { tool: "timer", arguments: { qty: 4, item: "rice" } });

test.each(["timer(qty=4, item='rice')", "timer(item='rice',qty=4)", "timer( qty=4 , item='rice' )"])(
  "%s is correct",
  async (answer) => {
    expect(await judge(answer)).toEqual({ status: "correct", score: 1, reason: "call" });
  },
);

test.each([
  ["alarm(qty=4, item='rice')", "wrong", "another tool"],
  ["timer(qty=5, item='rice')", "wrong", "argument qty differs"],
  ["timer(qty='4', item='rice')", "wrong", "argument qty differs"],
  ["timer(qty=4, item='soup')", "wrong", "argument item differs"],
  ["timer(qty=4)", "wrong", "1 arguments for 2"],
  ["timer()", "wrong", "0 arguments for 2"],
  ["timer(qty=4, item='rice', unit='C')", "wrong", "3 arguments for 2"],
  ["timer(qty=4, __proto__='rice')", "wrong", "argument item differs"],
  ["timer(qty=4, qty=4)", "unparsable", "malformed arguments"],
  ["timer(qty=04, item='rice')", "unparsable", "malformed arguments"],
  ["timer(qty=4, item=rice)", "unparsable", "malformed arguments"],
  ["timer(qty=4, item='ri'ce')", "unparsable", "malformed arguments"],
  ["timer(qty=4,, item='rice')", "unparsable", "malformed arguments"],
  ["timer qty=4 item='rice'", "unparsable", "not a call"],
  ["timer(qty=4, item='rice'", "unparsable", "not a call"],
  ["timer(qty=4, item='rice') timer()", "unparsable", "not a call"],
])("%j is %s: %s", async (answer, status, reason) => {
  expect(await judge(answer)).toEqual({ status, score: 0, reason });
});

test("a call without arguments is correct where none are asked for", async () => {
  const bare = judgeOf(toolCall, { tool: "open", arguments: {} });
  expect((await bare("open()")).status).toBe("correct");
  expect((await bare("open(x=1)")).status).toBe("wrong");
});

test.each([{}, { tool: "a b", arguments: {} }, { tool: "a", arguments: { x: true } }])(
  "reference %j is refused",
  (reference) => {
    expect(() => toolCall.parseReference(reference)).toThrow();
  },
);
