import { expect, test } from "vitest";
import { COMMANDS, LONGEST_COMMAND, RESERVED_WORDS, UNICODE } from "../../../lib/domains/math/vocabulary.ts";

test("commands start with a backslash, and none is longer than the lexer looks", () => {
  for (const spelling of COMMANDS.keys()) expect(spelling).toMatch(/^\\./);
  expect(Math.max(...[...COMMANDS.keys()].map((s) => s.length))).toBe(LONGEST_COMMAND);
});

test("unicode entries are single characters outside ASCII", () => {
  for (const c of UNICODE.keys()) expect([c.length, c.charCodeAt(0) > 127]).toEqual([1, true]);
});

test("a reserved word comes before those it starts with", () => {
  RESERVED_WORDS.forEach((word, i) => {
    for (const later of RESERVED_WORDS.slice(i + 1)) expect(later.startsWith(word)).toBe(false);
  });
});

test("unicode and LaTeX spell the same letter alike", () => {
  expect([UNICODE.get("π")!.text, UNICODE.get("ϵ")!.text]).toEqual([
    COMMANDS.get("\\pi")!.text,
    COMMANDS.get("\\varepsilon")!.text,
  ]);
});
