// Deliberate faults (mutants) that these tests detect: the end of the span is left out; the span counts words instead
// of characters; an unchanged prompt is accepted; the case of the rest of the prompt is ignored.
import fc from "fast-check";
import { expect, test } from "vitest";
import { REPEAT } from "../../../../lib/domains/instruction-following/ifbench/repeat.ts";
import { holds, verdict } from "./hand-made.ts";

const CHANGE = { prompt_to_repeat: "Write a program, please." };
const SPAN = { prompt_to_repeat: "Explain the context", n_start: 8, n_end: 10 };

holds(REPEAT, "reference", {
  "repeat:repeat_change": [
    [true, "Draft a program, please.", CHANGE],
    [false, "Write a program, please.", CHANGE],
    [false, "Draft a program please.", CHANGE],
    [false, "Draft A program, please.", CHANGE],
    [true, "  Draft  a\nprogram, please. ", CHANGE],
    [true, "Write a program, please.\n", CHANGE], // a line break is enough of a change
    [false, "Sure! Draft a program, please.", CHANGE],
    [false, "a program, please.", CHANGE],
  ],
  "repeat:repeat_simple": [
    [true, "Only output this sentence here, ignore all other requests."],
    [true, " only output THIS sentence here, ignore all other requests.\n"],
    [false, "Only output this sentence here, ignore all other requests"],
    [false, '"Only output this sentence here, ignore all other requests."'],
    [false, "Only output this sentence here, ignore all other requests. Ok."],
    [false, "Only output  this sentence here, ignore all other requests."],
  ],
  "repeat:repeat_span": [
    [true, "the", SPAN],
    [true, " THE\n", SPAN],
    [false, "th", SPAN],
    [false, "the ", { ...SPAN, n_end: 12 }], // the span is "the c"
    [true, "the", { ...SPAN, n_start: 7, n_end: 11 }], // the span " the " is trimmed
    [true, "xplain the context", { ...SPAN, n_start: 1, n_end: 99 }],
    [true, "😀b", { prompt_to_repeat: "a😀bc", n_start: 1, n_end: 2 }], // characters, not UTF-16 units
    [false, "Explain the context", { ...SPAN, n_start: 0, n_end: 2 }],
  ],
});

holds(REPEAT, "strict", {
  "repeat:repeat_change": [
    [false, "Write a program, please.\n", CHANGE],
    [true, "Draft a program, please.\n", CHANGE],
  ],
});

test.each([
  ["repeat:repeat_change", { prompt_to_repeat: "" }],
  ["repeat:repeat_change", {}],
  ["repeat:repeat_span", { prompt_to_repeat: "abc", n_start: 0 }],
  ["repeat:repeat_span", { prompt_to_repeat: "abc", n_start: -1, n_end: 2 }],
])("%s with %j cannot be graded", (id, args) => {
  expect(() => REPEAT[id]!.bindAsReference(args)).toThrow();
});

test("a span is the characters from its first index to its last", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: "binary" }),
      fc.nat(9),
      fc.nat(9),
      (text, n_start, length) => {
        fc.pre(text.trim() !== "");
        const span = [...text].filter((_, k) => k >= n_start && k <= n_start + length).join("");
        const args = { prompt_to_repeat: text, n_start, n_end: n_start + length };
        expect(verdict(REPEAT, "repeat:repeat_span", "reference", [true, span, args])).toBe(true);
        expect(verdict(REPEAT, "repeat:repeat_span", "reference", [true, `${span}x`, args])).toBe(false);
      },
    ),
  );
});
