import { expect, test } from "vitest";
import { PatternCursor, PatternError } from "../../lib/python/pattern-cursor.ts";

test("a cursor counts characters, not UTF-16 units", () => {
  const text = new PatternCursor("\u{1F600}ab");
  expect([text.peek(), text.peek(2), text.peek(3), text.ahead(9)]).toEqual([
    "\u{1F600}",
    "b",
    undefined,
    "\u{1F600}ab",
  ]);
  expect([text.take("a"), text.next(), text.take("a")]).toEqual([false, "\u{1F600}", true]);
  text.skip(1);
  expect(text.ended).toBe(true);
  expect(() => text.next()).toThrow(PatternError);
});
