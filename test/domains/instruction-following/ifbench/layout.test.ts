// Deliberate faults (mutants) that these tests detect: a wrong bracket is only skipped; depth 4; the other kind of
// quote closes; the line after a removed blank line is checked; strict mode measures `<em>` like `<i>`.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  indentsGrow,
  italicThesis,
  italicThesisAsReference,
  nestedBrackets,
  nestedQuotes,
} from "../../../../lib/domains/instruction-following/ifbench/layout.ts";

describe("brackets", () => {
  test.each([
    ["([{([x])}])", true],
    ["([{(x)}])", false],
    ["([{([x", false],
    ["([{([x]", true],
    ["([{([)x])}])", false], // a wrong bracket restarts the count
    ["((((( ] (((((a)", true],
    [")))))(((((", false],
    ["(a)(b)(c)(d)(e)", false],
    ["((((", false],
    ["(((((a]))))) )", false],
  ])("%s: %s", (text, expected) => {
    expect(nestedBrackets(text, 5)).toBe(expected);
  });

  test("balanced nesting is found from its depth on", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("()", "[]", "{}"), { maxLength: 12 }), (pairs) => {
        const text = pairs.reduceRight((inside, pair) => `a${pair[0]}${inside}${pair[1]}b`, "x");
        expect(nestedBrackets(text, 5)).toBe(pairs.length >= 5);
      }),
    );
  });
});

describe("quotes", () => {
  test.each([
    [`"a 'b "c" d' e"`, true],
    [`'a "b 'c' d" e'`, true],
    [`"a 'b' c"`, false],
    [`"a" 'b' "c"`, false],
    [`"a 'b "c" d'`, false], // two of three quotes are closed
    [`it's "a 'b' c"`, false], // the apostrophe opens a quote that is never closed
    [`it's "a 'b "c" d' e"`, true],
    [`"""'''`, false],
  ])("%s: %s", (text, expected) => {
    expect(nestedQuotes(text, 3)).toBe(expected);
  });
});

/** Removes blank lines while walking over the list, as the published checker does. */
function editedWhileWalking(lines: string[]): string[] {
  for (let k = 0; k < lines.length; k += 1) {
    const line = lines[k]!;
    if (line.trim() === "") lines.splice(lines.indexOf(line), 1);
  }
  return lines;
}

describe("indents", () => {
  test.each([
    ["a\n b\n  c", true],
    ["a\nb", false],
    [" a\n  b\n c", false],
    ["a\n\n b", true],
    ["a\n\n\n b", false], // the second blank line stays, with an indent of 0
    ["a\n\n \n  b", true], // the remaining blank line has an indent of 1
    ["a\n\tb", false], // tabs do not count as spaces
    ["a", true],
    ["", true],
  ])("%j: %s", (text, expected) => {
    expect(indentsGrow(text, 0)).toBe(expected);
  });

  test("a least number of lines can be asked for", () => {
    expect([indentsGrow("a", 2), indentsGrow("a\n\n", 2), indentsGrow("a\n b", 2)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("blank lines go as from a list that is edited while it is walked over", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("", " ", "  ", "\t", "a", " a", "  a", "   a")), (lines) => {
        const indents = editedWhileWalking([...lines]).map(
          (line) => line.length - line.replace(/^ +/, "").length,
        );
        const grow = indents.every((width, k) => k === 0 || width > indents[k - 1]!);
        fc.pre(lines.length > 0);
        expect(indentsGrow(lines.join("\n"), 0)).toBe(grow);
      }),
      { numRuns: 2000 },
    );
  });

  test("a million blank lines take no longer than their number", () => {
    expect(indentsGrow(`a\n${"\n".repeat(1_000_000)} b`, 0)).toBe(false);
  });
});

describe("italics", () => {
  test.each([
    ["<i>Thesis</i> and text", true, true],
    ["<em>Thesis</em> and text", true, true],
    ["<i>Thesis</i>", false, false],
    ["<i> </i> text", false, false],
    ["*Thesis* text", false, false],
    ["<i>Thesis text", false, false],
    ["<em>Thesis</em>", true, false], // the closing tag's ">" counts as text
    ["<em></em> text", true, false], // the opening tag's ">" counts as the thesis
    ["<i>Thesis</em> text", true, false],
    ["<em>a</em> text <i>b</i>", false, false], // <i> is taken first, wherever it is
  ])("%s: %s, strictly %s", (text, reference, strict) => {
    expect([italicThesisAsReference(text), italicThesis(text)]).toEqual([reference, strict]);
  });
});
