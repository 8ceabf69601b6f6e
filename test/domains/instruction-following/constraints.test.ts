import { describe, expect, test } from "vitest";
import { CONSTRAINTS } from "../../../lib/domains/instruction-following/constraints.ts";
import { IFBENCH } from "../../../lib/domains/instruction-following/ifbench/ifbench.ts";
import { REFERENCE } from "../../../lib/domains/instruction-following/reference.ts";
import { STRICT } from "../../../lib/domains/instruction-following/strict.ts";
import { ResponseText } from "../../../lib/domains/instruction-following/text/response-text.ts";
import { FROZEN_VERDICTS } from "./frozen/verdicts.ts";
import { sharedRows } from "./shared-cases.ts";

const IFEVAL = [
  "keywords:existence",
  "keywords:frequency",
  "keywords:forbidden_words",
  "keywords:letter_frequency",
  "language:response_language",
  "length_constraints:number_sentences",
  "length_constraints:number_paragraphs",
  "length_constraints:number_words",
  "length_constraints:nth_paragraph_first_word",
  "detectable_content:number_placeholders",
  "detectable_content:postscript",
  "detectable_format:number_bullet_lists",
  "detectable_format:constrained_response",
  "detectable_format:number_highlighted_sections",
  "detectable_format:multiple_sections",
  "detectable_format:json_format",
  "detectable_format:title",
  "combination:two_responses",
  "combination:repeat_prompt",
  "startend:end_checker",
  "startend:quotation",
  "change_case:capital_word_frequency",
  "change_case:english_capital",
  "change_case:english_lowercase",
  "punctuation:no_comma",
];
const TRAINING = [
  "keywords:word_once",
  "keywords:word_count_different_numbers",
  "keywords:exclude_word_harder",
  "keywords:no_adjacent_consecutive",
  "keywords:palindrome",
  "keywords:keyword_specific_position",
  "keywords:start_end",
  "copy:repeat_phrase",
  "copy:copy",
  "copy:copying_simple",
  "copy:copying_multiple",
  "new:copy_span_idx",
  "detectable_format:sentence_hyphens",
  "detectable_format:square_brackets",
  "detectable_format:bigram_wrapping",
  "paragraphs:paragraphs",
  "paragraphs:paragraphs2",
  "first_word:first_word_sent",
  "first_word:first_word_answer",
  "last_word:last_word_sent",
  "last_word:last_word_answer",
  "punctuation:punctuation_dot",
  "punctuation:punctuation_exclamation",
  "count:lowercase_counting",
  "letters:letter_counting",
  "letters:letter_counting2",
  "count:counting_composition",
  "count:count_unique",
  "count:count_increment_word",
];

test("IFEval's 25 constraints and the 29 of IF-RLVR are there", () => {
  expect([IFEVAL.length, TRAINING.length]).toEqual([25, 29]);
  expect([...IFEVAL, ...TRAINING].filter((id) => !CONSTRAINTS.has(id))).toEqual([]);
});

test("no id of theirs is one of IFBench's 58", () => {
  expect([...IFEVAL, ...TRAINING].filter((id) => Object.hasOwn(IFBENCH, id))).toEqual([]);
  expect(CONSTRAINTS.size).toBe(25 + 29 + 58);
});

test("no id is a name that objects have by themselves", () => {
  for (const id of ["constructor", "__proto__", "toString", "hasOwnProperty", ""])
    expect(CONSTRAINTS.get(id)).toBeUndefined();
});

test("reference verdicts on random responses are those of the published definitions", () => {
  for (const [id, args, response, followed] of FROZEN_VERDICTS) {
    const check = CONSTRAINTS.get(id)!.bindAsReference(args);
    expect([id, args, response, check(new ResponseText(response))]).toEqual([id, args, response, followed]);
  }
});

const prompts = sharedRows<{ key: number; instruction_id_list: string[]; kwargs: Record<string, unknown>[] }>(
  "ifeval_input_data.jsonl",
);

describe.skipIf(prompts.length === 0)("IFEval's prompts", () => {
  test("can all be judged, in both modes", () => {
    for (const { key, instruction_id_list: ids, kwargs } of prompts)
      for (const [i, id] of ids.entries())
        for (const rules of [STRICT, REFERENCE])
          expect([key, id, typeof rules.bind(CONSTRAINTS.get(id)!, kwargs[i]!)]).toEqual([
            key,
            id,
            "function",
          ]);
  });
});
