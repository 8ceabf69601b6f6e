import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { punktSentences } from "../../../../lib/domains/instruction-following/text/punkt.ts";
import { FROZEN_SENTENCES } from "../frozen/sentences.ts";

// Deliberate faults (mutants) that these tests detect: candidates of one word are not merged; collocations are
// ignored; a lower-case word after a number starts a sentence; closing quotes go to the next sentence; initials never
// join names; sentence starters are ignored.
describe("a sentence", () => {
  test.each([
    ["ends at a dot", "One. Two.", ["One.", "Two."]],
    [
      "ends not at an abbreviation",
      "Mr. Smith met Dr. Who. He left.",
      ["Mr. Smith met Dr. Who.", "He left."],
    ],
    ["ends at an abbreviation before a starter", "It is 5 p.m. The end", ["It is 5 p.m.", "The end"]],
    ["goes on after an abbreviation and a name", "In the U.S. Congress met.", ["In the U.S. Congress met."]],
    ["ends after an abbreviation's hyphen part only when told", "An anti-U.S. act.", ["An anti-U.S. act."]],
    ["goes on through initials", "J. K. Rowling wrote it.", ["J. K. Rowling wrote it."]],
    ["ends at an initial before a common word", "Plan B. Themes follow.", ["Plan B.", "Themes follow."]],
    ["goes on after a number before lower case", "It is no 3. but fine.", ["It is no 3. but fine."]],
    ["ends at a number before upper case", "It is 3. Then more.", ["It is 3.", "Then more."]],
    ["knows collocations", "It was 3. Review it.", ["It was 3. Review it."]],
    ["goes on after an ellipsis before a rare word", "Then... Zog came.", ["Then... Zog came."]],
    ["ends at an ellipsis before a sentence word", "Then... He came.", ["Then...", "He came."]],
    ["takes closing brackets along", '(One.) "Two!" Three', ["(One.)", '"Two!"', "Three"]],
    ["takes closing curly quotes along", "“One.” Two", ["“One.”", "Two"]],
    ["ends at marks in a row once", "Really?! Yes", ["Really?!", "Yes"]],
    ["ends at each lone mark", "Really ? ! Yes", ["Really ?", "!", "Yes"]],
    ["ends before a dash", 'He said "No." -- ever', ['He said "No."', "-- ever"]],
    ["keeps white space inside", " a\n bb. c", [" a\n bb.", "c"]],
    ["needs no mark", "no mark", ["no mark"]],
    ["is not blank", " \n ", []],
    ["is not empty", "", []],
  ])("%s", (_, text, expected) => {
    expect(punktSentences(text)).toEqual(expected);
  });

  test("is never blank, and all together are the text without the white space between them", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "B", ".", "!", "?", " ", "\n", '"', ")", "1", "-", "Mr", ",", "”"),
      maxLength: 40,
    });
    fc.assert(
      fc.property(text, (drawn) => {
        const squeeze = (s: string) => s.replace(/\s/g, "");
        expect(squeeze(punktSentences(drawn).join(""))).toBe(squeeze(drawn));
      }),
      { numRuns: 500 },
    );
  });
});

test("sentences of random texts are those of the published rules", () => {
  for (const [text, sentences] of FROZEN_SENTENCES)
    expect([text, punktSentences(text)]).toEqual([text, sentences]);
});

test("a long run of anything is split in linear time", () => {
  const start = performance.now();
  for (const unit of [".", ". ", "!", "?!", "a.", "a. ", '."', "- ", "-", " ", ".\n", "Mr. A. ", "\u00a0."])
    punktSentences(`${unit.repeat(1e5 / unit.length)}x`);
  expect(performance.now() - start).toBeLessThan(15_000);
});
