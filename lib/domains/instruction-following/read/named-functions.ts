/** An IFEval constraint: its id, and its arguments. */
type Constraint = readonly [id: string, kwargs?: Readonly<Record<string, unknown>>];
type Arguments = Readonly<Record<string, unknown>>;

/**
 * Translates a quantifier to IFEval: "at least 3" stays, "at most 3" becomes "less than 4". Undefined for
 * "around 3", which IFEval lacks.
 */
function related(
  id: string,
  { N, quantifier }: Arguments,
  count: string,
  relation: string,
): Constraint[] | undefined {
  const n = Number(N);
  if (quantifier === "at least") return [[id, { [relation]: "at least", [count]: n }]];
  if (quantifier === "at most") return [[id, { [relation]: "less than", [count]: n + 1 }]];
  return undefined;
}

/** "Exactly n", expressed as at least n and less than n + 1. */
function exactly(id: string, own: Arguments, n: unknown, count: string, relation: string): Constraint[] {
  return [
    [id, { ...own, [count]: Number(n), [relation]: "at least" }],
    [id, { ...own, [count]: Number(n) + 1, [relation]: "less than" }],
  ];
}

const one = (id: string, kwargs?: Arguments): Constraint[] => [[id, kwargs ?? {}]];

/**
 * Translates each function that checks Tülu 3's prompts into IFEval's constraints that accept the same
 * responses.
 * Source: allenai/open-instruct, if_functions.py; data set card allenai/RLVR-IFeval.
 */
const FUNCTIONS: Readonly<Record<string, (given: Arguments) => Constraint[] | undefined>> = {
  verify_keywords: ({ keyword_list: keywords }) => one("keywords:existence", { keywords }),
  verify_keyword_frequency: ({ word: keyword, N }) =>
    exactly("keywords:frequency", { keyword }, N, "frequency", "relation"),
  validate_forbidden_words: ({ forbidden_words }) => one("keywords:forbidden_words", { forbidden_words }),
  verify_letter_frequency: ({ letter, N }) =>
    exactly("keywords:letter_frequency", { letter }, N, "let_frequency", "let_relation"),
  validate_response_language: ({ language }) => one("language:response_language", { language }),
  verify_paragraph_count: ({ N }) => one("length_constraints:number_paragraphs", { num_paragraphs: N }),
  validate_word_constraint: (given) =>
    related("length_constraints:number_words", given, "num_words", "relation"),
  verify_sentence_constraint: (given) =>
    related("length_constraints:number_sentences", given, "num_sentences", "relation"),
  validate_paragraphs: ({ N, first_word, i }) =>
    one("length_constraints:nth_paragraph_first_word", { num_paragraphs: N, nth_paragraph: i, first_word }),
  verify_postscript: ({ postscript_marker }) => one("detectable_content:postscript", { postscript_marker }),
  validate_placeholders: ({ N }) => one("detectable_content:number_placeholders", { num_placeholders: N }),
  verify_bullet_points: ({ N }) => one("detectable_format:number_bullet_lists", { num_bullets: N }),
  validate_title: () => one("detectable_format:title"),
  validate_choice: () => one("detectable_format:constrained_response"),
  validate_highlighted_sections: ({ N }) =>
    one("detectable_format:number_highlighted_sections", { num_highlights: N }),
  validate_sections: ({ N, section_splitter }) =>
    one("detectable_format:multiple_sections", { section_spliter: section_splitter, num_sections: N }),
  validate_json_format: () => one("detectable_format:json_format"),
  validate_repeat_prompt: ({ original_prompt }) =>
    one("combination:repeat_prompt", { prompt_to_repeat: original_prompt }),
  validate_two_responses: () => one("combination:two_responses"),
  validate_uppercase: () => one("change_case:english_capital"),
  validate_lowercase: () => one("change_case:english_lowercase"),
  validate_frequency_capital_words: (given) =>
    related("change_case:capital_word_frequency", given, "capital_frequency", "capital_relation"),
  validate_end: ({ end_phrase }) => one("startend:end_checker", { end_phrase }),
  validate_quotation: () => one("startend:quotation"),
  validate_no_commas: () => one("punctuation:no_comma"),
};

/**
 * The constraints equivalent to a function with its arguments; or the reason why there are none, in words that can be
 * counted.
 */
export function constraintsOf(
  name: string,
  given: Arguments,
): readonly Constraint[] | { readonly leftOut: string } {
  if (!Object.hasOwn(FUNCTIONS, name)) return { leftOut: `function ${name.slice(0, 60)}` };
  return FUNCTIONS[name]!(given) ?? { leftOut: `function ${name}: ${String(given["quantifier"])}` };
}
