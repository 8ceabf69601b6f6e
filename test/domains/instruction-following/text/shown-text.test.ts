// Deliberate faults (mutants) that these tests detect: joiners stay between Latin letters, gaps are dropped,
// variation selectors are removed.
import { expect, test } from "vitest";
import { shownText } from "../../../../lib/domains/instruction-following/text/shown-text.ts";

test("a text is read without what shows nothing", () => {
  expect(shownText("c\u200bat, \u3164b\u2800c\u00ad\u0007d\ufeff\tx\n")).toBe("cat,  b cd\tx\n");
  for (const same of ["می‌خواهم", "👩‍👩‍👧", "❤️", "क्‍ष", "é e\u0301", "a\u00a0b"])
    expect(shownText(same)).toBe(same);
});

test("a long text of joiners takes linear time", () => {
  const start = performance.now();
  expect(shownText("\u200d".repeat(300_000))).toBe("");
  expect(performance.now() - start).toBeLessThan(2000);
});
