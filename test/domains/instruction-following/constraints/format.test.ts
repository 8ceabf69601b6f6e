import { expect, test } from "vitest";
import { FORMAT } from "../../../../lib/domains/instruction-following/constraints/format.ts";
import { ResponseText } from "../../../../lib/domains/instruction-following/text/response-text.ts";
import { checkRefusals, checkVerdicts } from "../verdicts.ts";

const PLACEHOLDERS = "detectable_content:number_placeholders";
const POSTSCRIPT = "detectable_content:postscript";
const BULLETS = "detectable_format:number_bullet_lists";
const HIGHLIGHTS = "detectable_format:number_highlighted_sections";
const SECTIONS = "detectable_format:multiple_sections";
const JSON_FORMAT = "detectable_format:json_format";
const TITLE = "detectable_format:title";
const HYPHENS = "detectable_format:sentence_hyphens";
const BIGRAMS = "detectable_format:bigram_wrapping";
const TWO = "combination:two_responses";

checkVerdicts(FORMAT, [
  ["two pairs", PLACEHOLDERS, { num_placeholders: 2 }, "[a] and []", [true, false]],
  ["a word in each", PLACEHOLDERS, { num_placeholders: 2 }, "[a] and [b 1]", true],
  ["marks in one", PLACEHOLDERS, { num_placeholders: 2 }, "[a] and [...]", [true, false]],
  ["the shortest pair", PLACEHOLDERS, { num_placeholders: 2 }, "[[a]]", false],
  ["not across lines", PLACEHOLDERS, { num_placeholders: 1 }, "[a\nb]", false],
  ["with spaces", POSTSCRIPT, { postscript_marker: "P.S." }, "Bye\np. s. more", true],
  ["P.P.S has no last dot", POSTSCRIPT, { postscript_marker: "P.P.S" }, "P. P.S more", true],
  ["missing", POSTSCRIPT, { postscript_marker: "P.S." }, "PS more", false],
  ["another marker", POSTSCRIPT, { postscript_marker: "N.B." }, "nxby", [true, false]],
  ["both bullets", BULLETS, { num_bullets: 3 }, "* a\n - b\n\n* c", true],
  ["bold is none", BULLETS, { num_bullets: 1 }, "**a**\n* b", true],
  ["a rule is one", BULLETS, { num_bullets: 1 }, "---", [true, false]],
  ["a rule is one too many", BULLETS, { num_bullets: 1 }, "* a\n---", false],
  ["marks are none", BULLETS, { num_bullets: 2 }, "* a\n* .", [true, false]],
  ["an empty one is no fewer", BULLETS, { num_bullets: 1 }, "- a\n- ", false],
  ["an asterisk takes the line after it", BULLETS, { num_bullets: 1 }, "*\n* b", [true, false]],
  ["a dash does not", BULLETS, { num_bullets: 2 }, "-\n- b", [true, false]],
  ["an asterisk at the very end is none", BULLETS, { num_bullets: 1 }, "a\n*", false],
  ["one choice", "detectable_format:constrained_response", {}, "Well. My answer is no. Bye", true],
  [
    "two choices",
    "detectable_format:constrained_response",
    {},
    "My answer is no. My answer is yes.",
    [true, false],
  ],
  [
    "all in words",
    "detectable_format:constrained_response",
    {},
    "My answer is no. my  answer is YES",
    [true, false],
  ],
  [
    "denied",
    "detectable_format:constrained_response",
    {},
    'My answer is not "My answer is yes."',
    [true, false],
  ],
  [
    "all in one",
    "detectable_format:constrained_response",
    {},
    "My answer is yes/no. My answer is yes.",
    [true, false],
  ],
  [
    "perhaps",
    "detectable_format:constrained_response",
    {},
    "My answer is yes. My answer might be no.",
    [true, false],
  ],
  [
    "a reason",
    "detectable_format:constrained_response",
    {},
    "My answer is yes. My answer is based on facts.",
    true,
  ],
  ["the same twice", "detectable_format:constrained_response", {}, "My answer is no. My answer is no.", true],
  ["another case", "detectable_format:constrained_response", {}, "my answer is no.", false],
  ["bold counts once", HIGHLIGHTS, { num_highlights: 2 }, "*a* **b**", true],
  ["blank spans do not count", HIGHLIGHTS, { num_highlights: 1 }, "* * ** **", false],
  ["marks in one", HIGHLIGHTS, { num_highlights: 2 }, "*a* *!*", [true, false]],
  ["not across lines", HIGHLIGHTS, { num_highlights: 1 }, "*a\nb*", false],
  [
    "numbered sections",
    SECTIONS,
    { section_spliter: "Section", num_sections: 2 },
    "Section 1\na\nSection  2\nSection 3\nb",
    true,
  ],
  [
    "a section without a word",
    SECTIONS,
    { section_spliter: "Section", num_sections: 2 },
    "Section 1\na\nSection 2\n...",
    [true, false],
  ],
  ["case counts", SECTIONS, { section_spliter: "Section", num_sections: 1 }, "SECTION 1", false],
  ["an expression", SECTIONS, { section_spliter: "(?:A|B)", num_sections: 2 }, "A 1 B 2", [true, false]],
  ["no expression", SECTIONS, { section_spliter: "**Part", num_sections: 1 }, "**Part 1** a", [false, true]],
  ["a heading alone", SECTIONS, { section_spliter: "Part", num_sections: 1 }, "**Part 1**", [true, false]],
  ["no expression", POSTSCRIPT, { postscript_marker: "(P" }, "(P a", [false, true]],
  ["nothing after it", POSTSCRIPT, { postscript_marker: "P.S." }, "Bye\nP.S.", [true, false]],
  ["only markers", POSTSCRIPT, { postscript_marker: "P.S." }, "Bye\nP.S. P.S. !", [true, false]],
  ["an object", JSON_FORMAT, {}, '{"a": [1, NaN]}', true],
  ["fenced", JSON_FORMAT, {}, " ```json\n[1]\n``` ", true],
  ["a number", JSON_FORMAT, {}, "12", [true, false]],
  ["an infinity", JSON_FORMAT, {}, "-Infinity", [true, false]],
  ["a number glued to NaN", JSON_FORMAT, {}, "1NaN", false],
  ["NaN inside a text stays", JSON_FORMAT, {}, '["NaN \\" Infinity"]', true],
  ["prose around it", JSON_FORMAT, {}, 'Here: {"a": 1}', false],
  ["single quotes", JSON_FORMAT, {}, "{'a': 1}", false],
  ["a title", TITLE, {}, "x\n<<a title>>\ny", true],
  ["blank", TITLE, {}, "<< >>", false],
  ["two lines", TITLE, {}, "<<a\nb>>", false],
  ["to the last mark of the line", TITLE, {}, "<<>> a >>", [true, false]],
  ["marks", TITLE, {}, "a <<...>>", [true, false]],
  ["the second", TITLE, {}, "<<...>> <<a>>", true],
  ["only marks", TITLE, {}, "<<>>>", false],
  ["hyphens between", HYPHENS, {}, "One is.-Two is.-Three is.", true],
  ["spaces beside hyphens", HYPHENS, {}, "One is. - Two is.", false],
  ["a mark for a sentence", HYPHENS, {}, "One is.-.-Three is.", [true, false]],
  ["a hyphen inside a sentence", HYPHENS, {}, "A well-made one.", false],
  ["every word", "detectable_format:square_brackets", {}, "[a] [b]\n[c]", true],
  ["a mark outside", "detectable_format:square_brackets", {}, "[a] [b].", false],
  ["every pair", BIGRAMS, {}, "<<a b>> <<c d>> e", true],
  ["one pair open", BIGRAMS, {}, "<<a b>> c d>>", false],
  ["one pair not closed", BIGRAMS, {}, "<<a b", false],
  ["two", TWO, {}, "a\n******\nb", true],
  ["twice the same", TWO, {}, "a ****** a", false],
  ["one", TWO, {}, "******a", false],
  ["a word and a mark", TWO, {}, "a ****** .", [true, false]],
  ["the same but for marks and case", TWO, {}, "It is. ****** it is!", [true, false]],
  ["a blank one between", TWO, {}, "a******\n******b", false],
]);

checkRefusals(FORMAT, [
  [PLACEHOLDERS, {}],
  [POSTSCRIPT, { postscript_marker: " " }],
  [BULLETS, { num_bullets: "3" }],
  [HIGHLIGHTS, {}],
  [SECTIONS, { num_sections: 2 }],
  [SECTIONS, { section_spliter: "Part", num_sections: -1 }],
]);

test("hostile texts take linear time", () => {
  const start = performance.now();
  for (const unit of ["[", "<<", "*", "\n", "- ", '"', '\\"', "{", "-", "***", "p.", "[a\n", " \n"]) {
    const response = new ResponseText(unit.repeat(2e5 / unit.length));
    for (const [id, args] of [
      [PLACEHOLDERS, { num_placeholders: 1 }],
      [POSTSCRIPT, { postscript_marker: "P.S." }],
      [BULLETS, { num_bullets: 1 }],
      [HIGHLIGHTS, { num_highlights: 1 }],
      [SECTIONS, { section_spliter: "[", num_sections: 1 }],
      [JSON_FORMAT, {}],
      [TITLE, {}],
      [HYPHENS, {}],
      [BIGRAMS, {}],
      [TWO, {}],
    ] as const)
      FORMAT[id]!.bind(args)(response);
  }
  expect(performance.now() - start).toBeLessThan(15_000);
});
