import { expect, test } from "vitest";
import { tokenize } from "../../../lib/domains/math/lexer.ts";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";

// Deliberate faults (mutants) that these tests detect: the shortest command matches first, "5." is a number, percent
// without its one space, `d` is never a differential, reserved words are ignored.

const words = (text: string, strict = false) =>
  tokenize(text, strict)
    .map(({ kind, text: t, body }) =>
      kind === t ? t : `${kind}:${t}${body === undefined ? "" : `(${body})`}`,
    )
    .join(" ");

test.each([
  ["12+.5", "number:12 + number:.5"],
  ["12.50", "number:12.50"],
  ["1.2E-5", "scientific:1.2E-5"],
  ["50\\%", "percent:50"],
  ["50 %x", "percent:50 letter:x"],
  ["\\sinx", "function:sin letter:x"],
  ["\\piR", "symbol:pi letter:R"],
  ["3\\leqslantx", "number:3 <=:leqslant letter:x"],
  ["\\infty\\in", "infinity:infty in"],
  ["x^2^\\circ", "letter:x ^ number:2 degree:°"],
  ["A^T", "letter:A transpose:T"],
  ["A^{T}x", "letter:A transpose:T letter:x"],
  ["\\text{a b}_1", "accent:text(a b) _ number:1"],
  ["\\vec {v}", "accent:vec(v)"],
  ["\\mathbb{R}", "domain:R"],
  ["e dx d", "e differential:x letter:d"],
  ["a\\, b\\quad c", "letter:a letter:b letter:c"],
  ["x≤−2π", "letter:x <= - number:2 symbol:pi"],
  ["a!=b", "letter:a != letter:b"],
  ["\\begin{pmatrix}1\\\\2\\end{pmatrix}", "begin:pmatrix number:1 row:\\ number:2 end:pmatrix"],
  ["\\operatorname{lcm}(2)", "operator:lcm ( number:2 )"],
  ["tree", "reserved:tr e e"],
])("%s", (text, expected) => expect(words(text)).toBe(expected));

test.each(["5.", "\\foo", "”", "\\text", "#", "@", "1.2.", "\\text{open"])("%j is no token", (text) =>
  expect(() => tokenize(text, false)).toThrow(SyntaxFault),
);

test("strict takes tr for letters and dx for a differential in integrals alone", () => {
  expect([words("tr dx", true), words("\\int dx", true)]).toEqual([
    "letter:t letter:r letter:d letter:x",
    "integral:int differential:x",
  ]);
});
