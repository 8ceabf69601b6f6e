// Deliberate faults (mutants) that these tests detect: the reasoning is not read, every complaint counts as a crash.
import { expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/code/reference.ts";
import { list, str } from "../../../lib/python/value.ts";

const F = "```";

test("a draft in a thought counts", () => {
  expect(REFERENCE.programIn(`<think>${F}python\nx\n${F}</think>done`)).toBe("x");
});

test("a list of lines is written as Python prints it, and any result may be JSON", () => {
  expect(REFERENCE.textOf(list([str("a"), str("b")]))).toBe("['a', 'b']");
  expect([REFERENCE.resultIsJson(true), REFERENCE.resultIsJson(false)]).toEqual([true, true]);
});

test.each([
  ["Traceback (most recent call last)", "crash"],
  ["an exception to the rule", "crash"],
  ["SyntaxError: invalid", "syntax"],
  ["IndentationError", "syntax"],
  ["syntaxerror", "crash"],
  ["a warning", undefined],
])("standard error %j is %s", (stderr, complaint) => {
  expect(REFERENCE.complaintOf(stderr)).toBe(complaint);
});
