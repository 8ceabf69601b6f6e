import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapePattern, Pattern, tryPattern } from "../../lib/python/pattern.ts";
import { PatternError } from "../../lib/python/pattern-cursor.ts";

const texts = (pattern: Pattern, text: string) =>
  pattern.matches(text).map(([start, end]) => text.slice(start, end));

import { FROZEN_MATCHES } from "./frozen/patterns.ts";

// Deliberate faults (mutants) that these tests detect: threads of lower preference survive a match; lazy repeats are
// greedy; a split's two branches are swapped.
describe("matches are found", () => {
  test.each([
    ["the first alternative that fits", "a|ab", "abab", ["a", "a"]],
    ["as long as a greedy repeat can", "a+", "aaba", ["aa", "a"]],
    ["as short as a lazy one can", "<.+?>", "<a><b>", ["<a>", "<b>"]],
    ["never overlapping", "aa", "aaaaa", ["aa", "aa"]],
    ["whole words", "\\bcat\\b", "cat concat cats Cat", ["cat"]],
    ["not across a line end", "a.b", "a\nb a-b", ["a-b"]],
    ["by Unicode digits and letters", "\\d\\w", "٣é 1_", ["٣é", "1_"]],
    ["by counted repeats", "a{2,3}", "aaaaa", ["aaa", "aa"]],
    ["whole characters beyond 16 bits", "😀.", "😀😀😀x", ["😀😀", "😀x"]],
    ["between the ends of a text", "^a$", "a\n", ["a"]],
    ["by classes", "[^a-c\\s]+", "ab xy c-", ["xy", "-"]],
    ["after a choice in a group", "(?:x|y)z?", "xzy", ["xz", "y"]],
    ["nowhere", "x", "", []],
  ])("%s", (_, source, text, expected) => {
    expect(texts(new Pattern(source), text)).toEqual(expected);
  });

  test("whatever the case, if asked", () => {
    const pattern = new Pattern("[K-M]ſ|É", { ignoreCase: true });
    expect(texts(pattern, "ks LS éÉ nS")).toEqual(["ks", "LS", "é", "É"]);
  });

  test("whatever the case, what a class excludes too", () => {
    expect(texts(new Pattern("[^a-c]", { ignoreCase: true }), "aAbXy")).toEqual(["X", "y"]);
  });

  test("at every line, if asked", () => {
    expect(new Pattern("^a$", { multiline: true }).count("a\na\nb")).toBe(2);
    expect(new Pattern("^a$").count("a\na\nb")).toBe(0);
  });

  test("up to a limit", () => {
    expect(new Pattern("a").matches("aaa", 2)).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });
});

test("matches are those of CPython, on expressions and texts drawn once", () => {
  for (const [source, flags, text, spans] of FROZEN_MATCHES) {
    const points = (units: number) => [...text.slice(0, units)].length;
    const pattern = new Pattern(source, { ignoreCase: flags.includes("i"), multiline: flags.includes("m") });
    const found = pattern.matches(text).map(([start, end]) => `${points(start)}-${points(end)}`);
    expect([source, flags, text, found.join(" ")]).toEqual([source, flags, text, spans]);
  }
});

/** Patterns that mean the same here and in JavaScript and never match the empty text. */
const letter = fc.constantFrom("a", "b", "[ab]", "[^a]", "\\bc", "c\\b", ".");
const source = fc.letrec<{ all: string; group: string }>((tie) => ({
  all: fc
    .array(
      fc.tuple(
        fc.oneof({ depthSize: "small" }, letter, tie("group")),
        fc.constantFrom("", "*", "+?", "{1,2}", "??"),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((parts) => parts.map(([part, repeat]) => (part.includes("\\b") ? part : part + repeat)).join("")),
  group: fc.tuple(tie("all"), tie("all")).map(([left, right]) => `(?:${left}|${right})`),
})).all;

test("matches are those of a backtracking matcher, on random patterns and texts", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", " ", "\n"), maxLength: 12 });
  let compared = 0;
  fc.assert(
    fc.property(source, text, (pattern, subject) => {
      let own: Pattern;
      try {
        own = new Pattern(pattern);
      } catch (error) {
        expect(error).toBeInstanceOf(PatternError);
        return;
      }
      compared += 1;
      expect(own.matches(subject)).toEqual(
        [...subject.matchAll(new RegExp(pattern, "g"))].map((m) => [m.index, m.index + m[0].length]),
      );
    }),
    { numRuns: 1000 },
  );
  expect(compared).toBeGreaterThan(200);
});

test("an escaped text matches itself and nothing else", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      expect(texts(new Pattern(escapePattern(text)), `${text}${text}`)[0]).toBe(text);
    }),
  );
  expect(new Pattern(escapePattern("a.b")).found("axb")).toBe(false);
});

test.each(["a*", "", "(a|)", "^", "\\b", "x{0,2}", "x(a?)*", "x(a|b?){2}"])(
  "%j is refused: it, or what it repeats, matches an empty text",
  (pattern) => {
    expect(() => new Pattern(pattern)).toThrow(PatternError);
  },
);

test("trying a pattern gives none for what Python refuses, and throws for what only this matcher does", () => {
  expect(tryPattern("a+")?.count("aa b a")).toBe(2);
  expect(tryPattern("a**")).toBeUndefined();
  expect(() => tryPattern("(?=a)b")).toThrow(PatternError);
});

test("a pattern that unrolls too far is refused", () => {
  expect(() => new Pattern("((a{100}){100}){100}")).toThrow("too long");
});

test.each([
  ["nested repeats", "(a+)+$", "a".repeat(50_000)],
  ["alternatives that overlap", "(a|a|ab)+c", "ab".repeat(25_000)],
  ["a lazy repeat with no end", "x.*?y", "x".repeat(50_000)],
  ["many optional parts", `${"a?".repeat(30)}${"a".repeat(30)}`, "a".repeat(20_000)],
  ["a long way to look ahead after each match", "a.*b|a", "a".repeat(10_000)],
])("%s take no exponential time", (_, pattern, text) => {
  const start = performance.now();
  new Pattern(pattern).count(text);
  expect(performance.now() - start).toBeLessThan(15_000);
});
