// Tests over 400 answers by the rules of generated-answers.ts, for two right letters each. No hedged or missing choice
// may be right; at most 2 % of the clear ones may be refused (none is).
import { describe, expect, test } from "vitest";
import { isHedged } from "../../../lib/domains/choice/hedge.ts";
import { choice } from "../../../lib/domains/choice/verify.ts";
import { CLEAR, CLEAR_BARE, CLEAR_SMALL, LETTERS, PAIRED, PAIRS, UNCLEAR } from "./generated-answers.ts";

function statusOf(text: string, answer: string, choices: number): string {
  const reference = choice.parseReference({ answer, choices, style: "mmlu-pro" });
  return (choice.verify({ text, finish: "stop" }, reference) as { status: string }).status;
}

/** Each row: the right letter, another letter, the number of options. */
const ASKED = [
  ["D", "B", 4],
  ["A", "C", 4],
  ["B", "A", 5],
  ["I", "G", 10],
  ["T", "C", 26],
] as const;
const fill = (form: string, right: string, other: string) =>
  form.replaceAll("@", right).replaceAll("?", other);

describe.each(ASKED)("%s, not %s, of %d", (right, other, choices) => {
  const clear = [
    ...CLEAR.flatMap((form) => LETTERS.map((letter) => form.replaceAll("§", () => letter))),
    ...CLEAR_BARE,
  ].map((form) => fill(form, right, other));
  const small = CLEAR_SMALL.map((form) => fill(form, right.toLowerCase(), other));
  const unclear = [
    ...PAIRED.flatMap((form) => PAIRS.map((pair) => form.replaceAll("§", () => pair))),
    ...UNCLEAR,
  ];

  test("a clear choice is right, and wrong where another letter is right", () => {
    const all = [...clear, ...small];
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter((text) => statusOf(text, right, choices) !== "correct")).toEqual([]);
    const elsewhere = "F";
    expect(all.filter((text) => statusOf(text, elsewhere, Math.max(choices, 6)) === "correct")).toEqual([]);
  });

  test("what names two, none or another is never right", () => {
    const made = unclear.map((form) => fill(form, right, other));
    expect(made.length).toBeGreaterThan(400);
    expect(made.filter((text) => statusOf(text, right, choices) === "correct")).toEqual([]);
  });

  test("what names two is not right for the other either", () => {
    const made = PAIRED.flatMap((form) =>
      PAIRS.map((pair) =>
        fill(
          form.replaceAll("§", () => pair),
          right,
          other,
        ),
      ),
    );
    expect(made.filter((text) => statusOf(text, other, choices) === "correct")).toEqual([]);
  });
});

test.each([
  ["C", " or D.", true],
  ["C", ", not D.", false],
  ["C", ") vitamin D", false],
  ["C", ". A cat sat.", false],
  ["C", ". I think so.", false],
  ["C", ") 4 (or D)", true],
  ["C", ", C, C", false],
  ["C", ", since A and B are wrong.", false],
  ["C", ", because it could also be D", true],
])("%s%s: %s", (letter, after, hedged) => {
  expect(isHedged(letter, after, "A-J")).toBe(hedged);
});
