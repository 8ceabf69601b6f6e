import { COPY } from "../../../../lib/domains/instruction-following/constraints/copy.ts";
import { checkRefusals, checkVerdicts } from "../verdicts.ts";

const PHRASE = "copy:repeat_phrase";
const phrase = "Actions speak louder than words";

checkVerdicts(COPY, [
  [
    "at the start",
    "combination:repeat_prompt",
    { prompt_to_repeat: " Say it " },
    "\nsay IT, then more",
    true,
  ],
  ["not at the start", "combination:repeat_prompt", { prompt_to_repeat: "Say it" }, "I say it", false],
  ["the same but for case and ends", "copy:copy", { prompt_to_repeat: "Say it" }, " SAY IT\n", true],
  ["with more", "copy:copy", { prompt_to_repeat: "Say it" }, "Say it.", false],
  ["simply the same", "copy:copying_simple", { prompt_to_repeat: "Say it" }, "say it", true],
  ["simply not", "copy:copying_simple", { prompt_to_repeat: "Say it" }, "say", false],
  ["N times", "copy:copying_multiple", { prompt_to_repeat: "Go", N: 2 }, "go\n******\nGO", true],
  [
    "more than N times",
    "copy:copying_multiple",
    { prompt_to_repeat: "Go", N: 2 },
    "go******go******go",
    false,
  ],
  ["another text", "copy:copying_multiple", { prompt_to_repeat: "Go", N: 2 }, "go******stay", false],
  [
    "a span without its end",
    "new:copy_span_idx",
    { prompt_to_repeat: "Write a poem", n_start: 6, n_end: 12 },
    "A POEM",
    true,
  ],
  [
    "from the start",
    "new:copy_span_idx",
    { prompt_to_repeat: "Write it", n_start: 0, n_end: 5 },
    "write",
    true,
  ],
  [
    "by characters, not by 16 bits",
    "new:copy_span_idx",
    { prompt_to_repeat: "😀😀ab", n_start: 1, n_end: 3 },
    "😀a",
    true,
  ],
  [
    "with the end",
    "new:copy_span_idx",
    { prompt_to_repeat: "Write it", n_start: 0, n_end: 4 },
    "write",
    false,
  ],
  [
    "one word changed each time",
    PHRASE,
    { phrase, small_n: 2 },
    "Actions shout louder than words. Actions speak lower than words",
    true,
  ],
  [
    "one unchanged",
    PHRASE,
    { phrase, small_n: 2 },
    `${phrase}\nActions stone louder than words`,
    [true, false],
  ],
  ["the last unchanged", PHRASE, { phrase, small_n: 2 }, `Actions stone louder than words\n${phrase}`, false],
  ["two words changed", PHRASE, { phrase, small_n: 1 }, "Actions x y than words", false],
  ["a word too many", PHRASE, { phrase, small_n: 1 }, "Actions speak much louder than words", false],
  [
    "once too often",
    PHRASE,
    { phrase, small_n: 1 },
    "Actions x louder than words, Actions y louder than words",
    false,
  ],
  ["no expression", PHRASE, { phrase: "(go on then", small_n: 1 }, "(go off then", [false, true]],
  ["an expression at its end", PHRASE, { phrase: "go on then.", small_n: 1 }, "go off then!", false],
]);

checkRefusals(COPY, [
  ["combination:repeat_prompt", {}],
  ["copy:copy", { prompt_to_repeat: "" }],
  ["copy:copying_multiple", { prompt_to_repeat: "a", N: 0 }],
  ["new:copy_span_idx", { prompt_to_repeat: "a", n_start: 0, n_end: 0 }],
  ["new:copy_span_idx", { prompt_to_repeat: "a", n_end: 1 }],
  [PHRASE, { phrase: "a b c", small_n: 0 }],
  [PHRASE, { small_n: 1 }],
]);
