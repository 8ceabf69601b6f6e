import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleJson, visibleText } from "../../../lib/shared/text/visible-text.ts";

test.each([
  ["plain, 二 and 👍\nnext line", "plain, 二 and 👍\nnext line"],
  ["\u001b[31mred\u001b]0;title\u0007", "\\x1b[31mred\\x1b]0;title\\x07"],
  ["\u009b2J\u007f\r\b", "\\x9b2J\\x7f\\x0d\\x08"],
  ["user\u202egpj.exe\u2066\u200f", "user\\u202egpj.exe\\u2066\\u200f"],
  ["\ud800 and \udfff", "\\ud800 and \\udfff"],
  ["a\u200bb\ufeffc\u2028d", "a\\u200bb\\ufeffc\\u2028d"],
  ["\u{e0041}\u{10ffff}\ue000", "\\u{e0041}\\u{10ffff}\\ue000"],
  ["a\tb", "a    b"],
  [`e${"\u0301".repeat(50)}!`, `e${"\u0301".repeat(4)}…!`],
])("%j is shown as %j", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

const anything = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});

test("nothing that a screen acts on is left, whatever the text, and its JSON is still its JSON", () => {
  fc.assert(
    fc.property(anything, (text) => {
      for (const shown of [visibleText(text), visibleJson({ [text]: [text] })]) {
        expect(shown).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
      }
      expect(JSON.parse(visibleJson({ [text]: text }, 2))).toEqual({ [text]: text });
    }),
  );
});
