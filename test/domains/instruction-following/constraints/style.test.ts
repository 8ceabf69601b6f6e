import { STYLE } from "../../../../lib/domains/instruction-following/constraints/style.ts";
import { checkRefusals, checkVerdicts } from "../verdicts.ts";

const CAPITALS = "change_case:capital_word_frequency";
const ENGLISH = "This is a sentence in plain English, and here is another one of them.";

checkVerdicts(STYLE, [
  [
    "German",
    "language:response_language",
    { language: "de" },
    "Das ist ein Satz in deutscher Sprache.",
    true,
  ],
  ["not German", "language:response_language", { language: "de" }, ENGLISH, false],
  ["no language", "language:response_language", { language: "de" }, "1234", [true, false]],
  ["English capitals", "change_case:english_capital", {}, ENGLISH.toUpperCase(), true],
  ["one small letter", "change_case:english_capital", {}, `${ENGLISH.toUpperCase()}x`, false],
  [
    "capitals of another language",
    "change_case:english_capital",
    {},
    "ЭТО ПРЕДЛОЖЕНИЕ НА РУССКОМ ЯЗЫКЕ",
    false,
  ],
  ["English small letters", "change_case:english_lowercase", {}, ENGLISH.toLowerCase(), true],
  ["one capital", "change_case:english_lowercase", {}, ENGLISH, false],
  [
    "words in capitals",
    CAPITALS,
    { capital_frequency: 2, capital_relation: "at least" },
    "NASA and the U.S. agree",
    true,
  ],
  ["marks are no words", CAPITALS, { capital_frequency: 1, capital_relation: "less than" }, "A!", false],
  ["none", CAPITALS, { capital_frequency: 1, capital_relation: "less than" }, "none, really", true],
  [
    "quoted and in another case",
    "startend:end_checker",
    { end_phrase: " The End. " },
    'So it is "the end."\n',
    true,
  ],
  ["something after it", "startend:end_checker", { end_phrase: "The end." }, "The end. Bye", false],
  ["in quotes", "startend:quotation", {}, ' "yes" ', true],
  ["one quote", "startend:quotation", {}, '"', false],
  ["open", "startend:quotation", {}, '"yes', false],
  ["no comma", "punctuation:no_comma", {}, "a; b", true],
  ["a comma", "punctuation:no_comma", {}, "a, b", false],
  ["no dot", "punctuation:punctuation_dot", {}, "a!", true],
  ["a dot", "punctuation:punctuation_dot", {}, "3.5", false],
  ["no mark", "punctuation:punctuation_exclamation", {}, "a.", true],
  ["a mark", "punctuation:punctuation_exclamation", {}, "a!", false],
]);

checkRefusals(STYLE, [
  ["language:response_language", {}],
  [CAPITALS, { capital_frequency: 2 }],
  [CAPITALS, { capital_relation: "at least" }],
  ["startend:end_checker", { end_phrase: "" }],
]);
