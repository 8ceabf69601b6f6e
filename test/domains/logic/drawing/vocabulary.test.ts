import { expect, test } from "vitest";
import * as vocabulary from "../../../../lib/domains/logic/drawing/vocabulary.ts";

test.each(Object.entries(vocabulary))("%s are words that no reader can mix up", (name, words) => {
  expect(new Set(words.map((word) => word.toLowerCase())).size).toBe(words.length);
  for (const word of words) expect(word).toMatch(name === "PEOPLE" ? /^[A-Z][a-z]+$/ : /^[a-z]+$/);
});

test("a colour and a thing read as one object only", () => {
  const names = vocabulary.COLORS.flatMap((color) => vocabulary.THINGS.map((thing) => `${color} ${thing}`));
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => /[^a-z ]/.test(name))).toEqual([]);
});
