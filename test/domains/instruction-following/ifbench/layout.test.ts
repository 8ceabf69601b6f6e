// Mutants that die: a wrong bracket only skipped; depth 4; quotes closed by the other kind; the line after a removed
// blank line looked at; `<em>` measured as `<i>` in strict mode.
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
    ["([{([)x])}])", false], // a wrong bracket starts the count anew
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
    [`"a 'b "c" d'`, false], // two of three closed
    [`it's "a 'b' c"`, false], // the apostrophe opens one that is never closed
    [`it's "a 'b "c" d' e"`, true],
    [`"""'''`, false],
  ])("%s: %s", (text, expected) => {
    expect(nestedQuotes(text, 3)).toBe(expected);
  });
});

/** The walk over a list that is edited under way, step by step. */
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
    ["a\n\n\n b", false], // the second blank line stays, and it is indented by nothing
    ["a\n\n \n  b", true], // the blank line that stays is indented by one space
    ["a\n\tb", false], // tabs are no spaces
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
    ["<em>Thesis</em>", true, false], // the ">" of the closing tag counts as text
    ["<em></em> text", true, false], // and that of the opening one as a thesis
    ["<i>Thesis</em> text", true, false],
    ["<em>a</em> text <i>b</i>", false, false], // the <i> comes first, wherever it stands
  ])("%s: %s, strictly %s", (text, reference, strict) => {
    expect([italicThesisAsReference(text), italicThesis(text)]).toEqual([reference, strict]);
  });
});
