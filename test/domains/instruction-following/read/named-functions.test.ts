import { expect, test } from "vitest";
import { findBuiltIn, referenceFault } from "../../../../lib/domains/index.ts";
import { constraintsOf } from "../../../../lib/domains/instruction-following/read/named-functions.ts";

// Deliberate faults (mutants) that these tests detect: "at most 5" becomes "less than 5", a frequency is only a lower
// bound, an unknown function is read.

/** A function, its arguments, a response that it accepts and one that it refuses, from reading if_functions.py. */
const CASES: readonly (readonly [name: string, given: object, right: string, wrong: string])[] = [
  ["verify_keywords", { keyword_list: ["river", "sea"] }, "A river and the sea.", "A river."],
  ["verify_keyword_frequency", { word: "sea", N: 2 }, "The sea, the sea.", "Sea, sea, sea."],
  ["validate_forbidden_words", { forbidden_words: ["sea"] }, "A river.", "The sea."],
  ["verify_letter_frequency", { letter: "z", N: 2 }, "A maze, a zoo.", "A zoo."],
  ["validate_word_constraint", { N: 3, quantifier: "at most" }, "One two three", "One two three four"],
  ["validate_word_constraint", { N: 3, quantifier: "at least" }, "One two three", "One two"],
  ["verify_bullet_points", { N: 2 }, "* one\n* two", "* one\n* two\n* three"],
  ["validate_placeholders", { N: 2 }, "Dear [name], [date]", "Dear [name]"],
  ["validate_title", {}, "<<Sea>>\nText.", "Sea\nText."],
  ["validate_highlighted_sections", { N: 1 }, "A *marked* word.", "A word."],
  ["validate_json_format", {}, '{"a": 1}', "a: 1"],
  ["validate_uppercase", {}, "ALL LOUD", "Not loud"],
  ["validate_lowercase", {}, "all of this is quiet, and written in small letters", "Not quiet"],
  ["validate_end", { end_phrase: "That is all." }, "Yes. That is all.", "That is all. Yes."],
  ["validate_quotation", {}, '"Quoted."', "Not quoted."],
  ["validate_no_commas", {}, "No comma here.", "A comma, here."],
  ["validate_frequency_capital_words", { N: 1, quantifier: "at most" }, "ONE word", "TWO WORDS"],
];

test.each(CASES)("%s %j takes %j and not %j", async (name, given, right, wrong) => {
  const found = constraintsOf(name, given as Record<string, unknown>);
  if ("leftOut" in found) throw new Error(found.leftOut);
  const reference = {
    instruction_id_list: found.map(([id]) => id),
    kwargs: found.map(([, kwargs]) => kwargs ?? {}),
  };
  const verifier = (await findBuiltIn("instruction-following"))!;
  const parsed = verifier.parseReference(reference);
  const statusOf = async (text: string) => (await verifier.verify({ text, finish: "eos" }, parsed)).status;
  expect(await statusOf(right)).toBe("correct");
  expect(await statusOf(wrong)).not.toBe("correct");
});

test("the others have arguments that the verifier takes", async () => {
  const verifier = await findBuiltIn("instruction-following");
  const given = {
    N: 2,
    i: 1,
    first_word: "so",
    language: "de",
    quantifier: "at least",
    postscript_marker: "P.S.",
    section_splitter: "Part",
    original_prompt: "Say it.",
    options: "a",
  };
  for (const name of [
    "validate_response_language",
    "verify_paragraph_count",
    "verify_sentence_constraint",
    "validate_paragraphs",
    "verify_postscript",
    "validate_choice",
    "validate_sections",
    "validate_repeat_prompt",
    "validate_two_responses",
  ]) {
    const found = constraintsOf(name, given) as readonly (readonly [string, object?])[];
    const reference = {
      instruction_id_list: found.map(([id]) => id),
      kwargs: found.map(([, one]) => one ?? {}),
    };
    expect([name, referenceFault(verifier, reference)]).toEqual([name, undefined]);
  }
});

test("what has no constraint that says the same is left out", () => {
  expect(constraintsOf("validate_word_constraint", { N: 9, quantifier: "around" })).toEqual({
    leftOut: "function validate_word_constraint: around",
  });
  expect(constraintsOf("toString", {})).toEqual({ leftOut: "function toString" });
});
