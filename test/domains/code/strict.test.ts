// Deliberate faults (mutants) that these tests detect: the reasoning is read, the first `</think>` counts instead of
// the last, lists of lines are joined as Python prints them.
import { expect, test } from "vitest";
import { STRICT } from "../../../lib/domains/code/strict.ts";
import { list, str } from "../../../lib/python/value.ts";

const F = "```";
const block = (source: string) => `${F}python\n${source}\n${F}`;

test.each([
  ["a draft in a thought is none", `<think>${block("x")}</think>done`, undefined],
  ["what follows the last thought", `${block("x")}</think>${block("y")}</think>${block("z")}`, "z"],
  ["all of it without a thought", block("x"), "x"],
])("%s", (_, completion, program) => {
  expect(STRICT.programIn(completion)).toBe(program);
});

test("lists of lines are joined, a result is JSON where its arguments are, standard error says nothing", () => {
  expect(STRICT.textOf(list([str("a"), str("b")]))).toBe("a\nb");
  expect([STRICT.resultIsJson(true), STRICT.resultIsJson(false)]).toEqual([true, false]);
  expect(STRICT.complaintOf("Traceback: SyntaxError")).toBeUndefined();
});
