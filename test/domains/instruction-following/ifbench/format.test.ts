// Deliberate faults (mutants) that these tests detect: options are cut at "," before "/"; marks stay around an
// option; trimming drops blank lines; only the last character is checked for an emoji; sentences may have a blank
// line between them; a separator is counted once; reference mode checks the order of headings; titles accept single
// lower-case letters.
import fc from "fast-check";
import { expect, test } from "vitest";
import { FORMAT } from "../../../../lib/domains/instruction-following/ifbench/format.ts";
import { holds, verdict } from "./hand-made.ts";

const YES = { options: "yes/no/maybe" };
const KNOW = { options: "I know or I don't know" };
const LETTERS = { options: "a), b), c), d)" };
const TEMPLATE = "My Answer: a\nMy Conclusion: b\nFuture Outlook: c";

holds(FORMAT, "reference", {
  "format:parentheses": [
    [true, "This (is [nested {very (deeply [here], yay!)}])."],
    [false, "((()))"],
    [false, "This (is [nested {very (deep)}])."],
    [false, "((((("],
    [true, "(((((ok)"],
    [false, "no brackets"],
  ],
  "format:quotes": [
    [true, `She said "he told me 'she wrote "hi" once' before" ok`],
    [true, `'a "b 'c' d" e'`],
    [false, `"a 'b' c"`],
    [false, `“a ‘b “c” d’ e”`], // curly quotes do not count
    [false, "no quotes"],
    [false, `"""`],
  ],
  "format:options": [
    [true, "yes", YES],
    [true, " YES. ", YES],
    [false, "yes, sure", YES],
    [false, "perhaps", YES],
    [false, "yes\n", YES], // only spaces and marks around the answer are removed
    [true, "i don't know!", KNOW],
    [true, "a)", LETTERS],
    [false, "a", LETTERS],
    [false, "A)", LETTERS],
    [false, " a)", LETTERS],
    [true, "f", { options: "red or f or blue" }],
    [true, "b, or c", { options: "a/b, or c" }], // a slash precedes "or", and "or" precedes a comma
  ],
  "format:newline": [
    [true, "one\ntwo\nthree"],
    [true, "one\n\n\ntwo"],
    [false, "one two\nthree"],
    [true, "one -\ntwo"], // punctuation is not a word
    [false, "one\n \ntwo"], // a line of spaces counts as a line
    [true, "one"],
    [true, "\n one\ntwo \n"],
    [false, "one\n -\ntwo"], // without the mark a line with a space remains
  ],
  "format:emoji": [
    [true, "Hello there 😀."],
    [true, "Hello there! 😀"], // without the mark an emoji starts the last part
    [true, "Hi. 😀 Ho! 🎉"],
    [false, "Hi. Ho 😀."],
    [true, "Love ❤️."], // a variation selector follows the heart
    [false, "Hi."],
    [false, "Hi 😀. Ho."],
    [true, "Hi ©."],
    [false, "Hi 7."],
    [false, "Hi 🇩🇪🇫."], // a single regional indicator is not an emoji
    [false, "..."],
  ],
  "format:line_indent": [
    [true, "a\n b\n  c"],
    [false, "a\n b\n b"],
    [true, "only"],
    [true, "  a\n   b\n\n    c"],
    [false, " a\nb"],
    [true, "a\n   b"],
  ],
  "format:quote_unquote": [
    [true, '"Word" means this.'],
    [false, '"Word" "other" both.'],
    [false, 'He said "word"'],
    [false, 'He said "word".'],
    [false, 'He said "word" 12!'], // digits and marks do not count as an explanation
    [true, "The mark '\"' is one"],
    [true, "no quotes"],
    [true, '"a" - "b" differ'],
    [true, "“a” “b”"],
    [true, "12!"],
  ],
  "format:list": [
    [true, "!?!? one\n!?!? two", { sep: "!?!?" }],
    [false, "!?!? one", { sep: "!?!?" }],
    [true, "well-known, long-lived", { sep: "-" }],
    [false, "!?!?!?", { sep: "!?!?" }], // two separators would overlap
    [true, "SEPARATOR a SEPARATOR b", { sep: "SEPARATOR" }],
    [false, "separator a separator b", { sep: "SEPARATOR" }],
    [false, "a b", { sep: "." }], // the separator is plain text, not a pattern
  ],
  "format:thesis": [
    [true, "<i>Thesis.</i> Text."],
    [true, "Title\n<em>Thesis.</em>\nText."],
    [false, "<i></i> Text."],
    [false, "<i>Thesis.</i>\n"],
    [false, "_Thesis._ Text."],
    [false, "<I>Thesis.</I> Text."],
    [true, "<em>Thesis.</em>"],
  ],
  "format:sub-bullets": [
    [true, "* a\n - b\n* c\n - d"],
    [false, "* a\n - b\n* c"],
    [false, "- a\n* b"],
    [true, "no bullets"],
    [false, "**bold** - a"], // each star counts as a bullet
    [true, "* well-known\n* long-lived"],
  ],
  "format:no_bullets_bullets": [
    [true, "One is. Two is.\n* a\n* b"],
    [true, "One is.\nTwo is.\n\n  * a\n*b"],
    [false, "One is.\n* a\n* b"],
    [false, "One is. Two is.\n* a"],
    [false, "One is. Two is.\n* a\n* b\n"], // the last line is not a bullet
    [false, "One is.\n\nTwo is.\n* a\n* b"], // the blank line ended the sentences
    [true, "One is! Title\n* a\n* b"],
    [false, "* a\n* b\nOne is. Two is."],
    [false, "One is. Two is."],
  ],
  "format:title_case": [
    [true, "The Cat Sat On A Mat"],
    [false, "The Cat sat"],
    [false, "A b"],
    [true, "NASA And McDonald"], // mixed case and capitals pass
    [false, "tHE End"],
    [true, "iPhone Is New"],
    [false, "I Don't"], // n't is a separate word
    [true, "It's 3rd: (Été)"],
    [true, "123 -- !"],
  ],
  "format:output_template": [
    [true, TEMPLATE],
    [false, TEMPLATE.replace("Future", "future")],
    [false, TEMPLATE.replace("My Answer:", "My Answer")],
    [true, "Future Outlook:My Conclusion:My Answer:"],
    [false, "My Answer: a"],
    [true, `Sure.\n${TEMPLATE}\nBye.`],
  ],
  "format:no_whitespace": [
    [true, "NoSpace-here."],
    [false, "No space"],
    [false, "NoSpace\n"],
    [false, "a\tb"],
    [false, "a\u00a0b"],
    [false, "a\u3000b"],
    [true, "a\u200bb\ufeffc"], // zero-width, but not white space in Python
    [false, "a\x1cb"],
  ],
});

holds(FORMAT, "strict", {
  "format:line_indent": [
    [false, "only"],
    [true, "a\n b"],
  ],
  "format:list": [
    [false, "well-known, long-lived", { sep: "-" }],
    [true, "- a\n  - b", { sep: "-" }],
  ],
  "format:thesis": [
    [false, "<em>Thesis.</em>"],
    [true, "<em>Thesis.</em> Text."],
  ],
  "format:sub-bullets": [
    [false, "no bullets"],
    [true, "* a\n - b"],
    [true, "* **Bold** idea\n  - **more** of it\n* Next\n  - and so on"],
    [true, "**Title**\n\n* a\n\t- b\n\nClosing words."],
    [true, "*a\n-b\n*c\n-d"],
    [true, "*Note:* first.\n* a\n  - 2 * 3 * 4\n* b\n  - well-known"],
    [false, "* **Bold** idea\n* Next\n  - and so on"],
    [false, "* well-known\n* long-lived"], // hyphens inside words are not bullets
    [false, "* a\n---\n* b\n - c"], // a rule, not a bullet
    [false, "**bold** - a"],
    [false, "- a\n- b"],
  ],
  "format:no_bullets_bullets": [
    [false, "One is! Title\n* a\n* b"],
    [true, "One is! So. And so.\n* a\n* b"],
    [true, 'She said "one." He said "two."\n* a\n* b'],
    [true, "(One is.) **Two is.**\n* a\n* b"],
    [true, "She said \u201cone.\u201d Two is.\n* a\n* b"],
    [false, 'She said "one?" He said "two."\n* a\n* b'],
  ],
  "format:output_template": [
    [false, "Future Outlook: My Conclusion: My Answer:"],
    [true, TEMPLATE],
  ],
});

test.each([
  ["format:options", {}],
  ["format:list", { sep: "" }],
])("%s with %j cannot be graded", (id, args) => {
  expect(() => FORMAT[id]!.bind(args)).toThrow();
});

test("every option of a list is an answer, in any case and with marks around it", () => {
  const word = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(..."dfghjklmnpq") });
  fc.assert(
    fc.property(fc.array(word, { minLength: 2 }), fc.constantFrom("/", " or ", ", "), (words, separator) => {
      const args = { options: words.join(separator) };
      for (const option of words) {
        expect(
          verdict(FORMAT, "format:options", "reference", [true, `"${option.toUpperCase()}".`, args]),
        ).toBe(true);
      }
      expect(verdict(FORMAT, "format:options", "reference", [true, "zzz", args])).toBe(false);
    }),
  );
});
