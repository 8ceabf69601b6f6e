// Tests Python's str methods on characters that JavaScript classifies differently.

import { expect, test } from "vitest";
import { splitLines } from "../../../lib/python/text.ts";
import { capitalize, count, find, splitFromRight, strip } from "../../../lib/text/jinja/strings.ts";
import { length } from "../../../lib/text/jinja/values.ts";

test("white space is Python's", () => {
  expect(strip("\x1c\x85\u3000a\ufeff \n", undefined, true, true)).toBe("a\ufeff");
  expect(strip("  a  ", undefined, true, false)).toBe("a  ");
  expect(strip("  a  ", undefined, false, true)).toBe("  a");
  expect(strip("   ", undefined, true, true)).toBe("");
});

test("a set of characters is stripped, not a prefix", () => {
  expect(strip("ababcab", "ba", true, true)).toBe("c");
  expect(strip("\u{1f600}a", "\u{1f600}", true, true)).toBe("a");
  expect(strip(" a ", "", true, true)).toBe(" a ");
});

test("lines end in more ways than one", () => {
  expect(splitLines("a\r\nb\rc\n\nd\x85e\u2028f")).toEqual(["a", "b", "c", "", "d", "e", "f"]);
  expect(splitLines("a\n")).toEqual(["a"]);
  expect(splitLines("")).toEqual([]);
  expect(splitLines("\n")).toEqual([""]);
});

test("lengths and places are counted in code points", () => {
  expect(length("\u{1f600}a")).toBe(2);
  expect(find("\u{1f600}ab", "b")).toBe(2);
  expect(find("a", "b")).toBe(-1);
  expect(count("aaaa", "aa")).toBe(2);
  expect(count("ab", "")).toBe(3);
});

test("the first letter is raised and the others are lowered", () => {
  expect(capitalize("hELLO")).toBe("Hello");
  expect(capitalize("")).toBe("");
});

test("splitting from the right keeps the left whole", () => {
  expect(splitFromRight("a-b-c", "-", 1)).toEqual(["a-b", "c"]);
  expect(splitFromRight("a-b-c", "-", -1)).toEqual(["a", "b", "c"]);
  expect(splitFromRight("a-b-c", "-", 0)).toEqual(["a-b-c"]);
  expect(splitFromRight("abc", "-", 3)).toEqual(["abc"]);
});
