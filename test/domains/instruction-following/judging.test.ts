import { describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import type { Mode } from "../../../lib/domains/instruction-following/judging.ts";
import { instructionFollowing } from "../../../lib/domains/instruction-following/verify.ts";

await instructionFollowing.prepare?.();

interface Given {
  readonly mode?: Mode;
  readonly compat?: Compat;
}
type Asked = readonly (readonly [id: string, args?: Record<string, unknown> | null])[];

const referenceOf = (asked: Asked, given: Given = {}) => ({
  instruction_id_list: asked.map(([id]) => id),
  kwargs: asked.map(([, args]) => args ?? null),
  ...given,
});
const judge = async (text: string, asked: Asked, given: Given = {}) =>
  await instructionFollowing.verify(
    { text, finish: "stop" },
    instructionFollowing.parseReference(referenceOf(asked, given)),
  );

const NO_COMMA = ["punctuation:no_comma"] as const;
const NO_DOT = ["punctuation:punctuation_dot"] as const;
const CAT = ["keywords:existence", { keywords: ["cat"] }] as const;

describe("the score is the fraction of constraints followed", () => {
  test.each([
    ["a cat", { status: "correct", score: 1, reason: "follows [1,1,1]" }],
    ["a, cat", { status: "partial", score: 2 / 3, reason: "follows [0,1,1]: not punctuation:no_comma" }],
    [
      "a, dog.",
      {
        status: "wrong",
        score: 0,
        reason: "follows [0,0,0]: not punctuation:no_comma, punctuation:punctuation_dot, keywords:existence",
      },
    ],
    [" \n", { status: "no_answer", score: 0, reason: "blank response" }],
  ])("%j", async (text, verdict) => {
    expect(await judge(text, [NO_COMMA, NO_DOT, CAT])).toEqual(verdict);
  });

  test("the same constraint may be asked twice with other arguments", async () => {
    const verdict = await judge("a cat", [CAT, ["keywords:existence", { keywords: ["dog"] }]]);
    expect(verdict).toMatchObject({ status: "partial", score: 0.5 });
  });

  test("a reason names what it has room for", async () => {
    const asked = Array.from({ length: 30 }, () => CAT);
    const { reason } = await judge("a dog", asked);
    expect(reason).toHaveLength(190);
  });
});

describe("what is judged", () => {
  test.each<[string, string, Compat, Mode, number]>([
    ["thoughts go in strict", "a, b</think>cat", "strict", "train", 1],
    ["thoughts stay in reference", "a, b</think>cat", "reference", "train", 0],
    ["a thought without end is none", "<think>cat", "strict", "train", 0],
    ["marked text in strict", "a, [BEGIN FINAL RESPONSE]cat[END FINAL RESPONSE], b", "strict", "train", 1],
    [
      "the first marked text in reference",
      "[Begin Final Response]cat[end final response],[BEGIN FINAL RESPONSE],[END FINAL RESPONSE]",
      "reference",
      "train",
      1,
    ],
    ["a mark without end is text in reference", "a, [BEGIN FINAL RESPONSE]cat", "reference", "train", 0],
    [
      "marks are text for IFEval in reference",
      ",[BEGIN FINAL RESPONSE]cat[END FINAL RESPONSE]",
      "reference",
      "strict",
      0,
    ],
    ["nothing inside the marks", "a[BEGIN FINAL RESPONSE] [END FINAL RESPONSE]", "reference", "train", 0],
  ])("%s", async (_, text, compat, mode, score) => {
    expect((await judge(text, [NO_COMMA], { compat, mode })).score).toBe(score);
  });

  test("a blank response follows nothing but where the constraint itself is asked", async () => {
    const asked: Asked = [["detectable_format:square_brackets"]];
    const blank = { status: "no_answer", score: 0 };
    for (const mode of ["train", "strict", "loose"] as const)
      expect(await judge(" ", asked, { mode, compat: "reference" })).toMatchObject(blank);
    expect(await judge(" ", asked, { mode: "constraint", compat: "reference" })).toMatchObject({ score: 1 });
    expect(await judge(" ", asked, { mode: "constraint", compat: "strict" })).toMatchObject(blank);
  });

  test("a response beyond all measure is not judged", async () => {
    expect(await judge("a".repeat((1 << 18) + 1), [NO_COMMA])).toMatchObject({ status: "unparsable" });
    expect(await judge("a".repeat(1 << 18), [NO_COMMA])).toMatchObject({ status: "correct" });
  });
});

// Deliberate faults (mutants) that these tests detect: asterisks stay; the last line stays.
describe("loose takes what any variant follows", () => {
  test.each([
    ["without the first line", "Sure, here:\ncat", true],
    ["without the last line", "cat\nBye, you", true],
    ["without both", "Sure,\ncat\nBye,", true],
    ["none without a comma", "a, b\nc, d\ne, f", false],
    ["only one line, and it is wrong", "a, b", false],
  ])("%s", async (_, text, followed) => {
    const score = followed ? 1 : 0;
    expect((await judge(text, [NO_COMMA], { mode: "loose" })).score).toBe(score);
    expect((await judge(text, [NO_COMMA], { mode: "strict" })).score).toBe(0);
  });

  test("asterisks go", async () => {
    const asked: Asked = [["startend:end_checker", { end_phrase: "the end" }]];
    expect((await judge("It is **the end**", asked, { mode: "loose" })).score).toBe(1);
    expect((await judge("It is **the end**", asked)).score).toBe(0);
  });

  test("each constraint may take another variant", async () => {
    const asked: Asked = [NO_COMMA, ["keywords:existence", { keywords: ["sure"] }]];
    expect((await judge("Sure,\ncat", asked, { mode: "loose" })).score).toBe(1);
  });
});

test("null arguments beside those that count are nothing", async () => {
  expect((await judge("cat", [["keywords:existence", { keywords: ["cat"], num_words: null }]])).score).toBe(
    1,
  );
  expect((await judge("cat", [["punctuation:no_comma", null]])).score).toBe(1);
});

test("hostile responses end in time, whatever is asked of them", async () => {
  const asked: Asked = [
    ["length_constraints:number_sentences", { num_sentences: 3, relation: "at least" }],
    ["change_case:capital_word_frequency", { capital_frequency: 3, capital_relation: "at least" }],
    ["keywords:keyword_specific_position", { keyword: "a", n: 2, m: 2 }],
    ["detectable_format:number_bullet_lists", { num_bullets: 3 }],
    ["keywords:forbidden_words", { forbidden_words: ["aaaaaaaaab", "a a"] }],
    ["language:response_language", { language: "en" }],
    ["copy:repeat_phrase", { phrase: "a b a", small_n: 2 }],
  ];
  for (const unit of [".", "a. ", "! ", "\n", "* ", "😀"]) {
    const start = performance.now();
    await judge(unit.repeat((1 << 18) / unit.length), asked);
    expect([unit, performance.now() - start < 15_000]).toEqual([unit, true]);
  }
});
