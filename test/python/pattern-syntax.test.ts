import { describe, expect, test } from "vitest";
import { PatternError } from "../../lib/python/pattern-cursor.ts";
import { readPattern } from "../../lib/python/pattern-syntax.ts";

const OPTIONS = { ignoreCase: false, multiline: false };

/** The outcome of reading a pattern: "read", or the kind of its error. */
function outcome(source: string): string {
  try {
    readPattern(source, OPTIONS);
    return "read";
  } catch (error) {
    if (error instanceof PatternError) return error.kind;
    throw error;
  }
}

describe("a pattern that Python's re compiles is read", () => {
  test.each([
    "a.b|c",
    "(a(b)c)*",
    "(?:x)+?",
    "(?P<name>x)",
    "[a-z^-]",
    "[^]a]",
    "[]a]",
    "[\\w.-]+",
    "[a-]",
    "\\d{2,3}",
    "a{,3}b",
    "a{2}",
    "a{",
    "a{x}",
    "{",
    "}",
    "]",
    "\\x41\\u0041\\U00000041",
    "\\n\\t\\.\\-\\ ",
    "\\bword\\b",
    "^\\Ax\\Z$",
    "é+",
    "|a",
  ])("%s", (source) => {
    expect(outcome(source)).toBe("read");
  });
});

describe("one that Python refuses is invalid", () => {
  test.each([
    "C++",
    "a**",
    "*",
    "+a",
    "?",
    "(",
    ")",
    "a)",
    "(a",
    "[",
    "[a",
    "[b-a]",
    "a{3,2}",
    "\\",
    "\\q",
    "\\x4",
    "a{2}{3}",
  ])("%s", (source) => {
    expect(outcome(source)).toBe("invalid");
  });
});

describe("what linear time does not allow, or nobody needs, is unsupported", () => {
  test.each(["(a)\\1", "(?=a)", "(?!a)", "(?<=a)b", "(?i)a", "(?P=name)", "a{1001}", "\\b*", "(".repeat(60)])(
    "%s",
    (source) => {
      expect(outcome(source)).toBe("unsupported");
    },
  );
});
