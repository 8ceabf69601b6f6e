// Mutants tried: see the rules; each broken in turn, a test below fails.
import { expect, test } from "vitest";
import { progress, showBytes } from "../../lib/cli/progress.ts";

/** What was said, after each telling at a time in milliseconds. */
function telling(
  isTTY: boolean,
  tellings: readonly (readonly [ms: number, text: string, isLast?: boolean])[],
) {
  const said: string[] = [];
  let at = 0;
  const line = progress({ say: (text) => said.push(text), isTTY, now: () => at });
  for (const [ms, text, isLast] of tellings) {
    at = ms;
    line.show(text, isLast);
  }
  line.end();
  return said;
}

test("on a terminal one line is written over, ten times a second at most, and the last word always said", () => {
  expect(
    telling(true, [
      [0, "a long one"],
      [99, "too soon"],
      [100, "b"],
      [110, "the end", true],
    ]),
  ).toEqual(["\ra long one", "\rb         ", "\rthe end", "\n"]);
});

test("elsewhere each is a line of its own, every ten seconds at most, and the last word always said", () => {
  expect(
    telling(false, [
      [0, "0 of 3"],
      [9_999, "1 of 3"],
      [10_000, "2 of 3"],
      [10_100, "3 of 3", true],
      [10_200, "3 of 3", true],
    ]),
  ).toEqual(["0 of 3\n", "2 of 3\n", "3 of 3\n"]);
});

test.each([true, false])("who tells nothing leaves no line (on a terminal: %s)", (isTTY) => {
  expect(telling(isTTY, [])).toEqual([]);
});

test("bytes in their units, rounded down, the last when all are there", () => {
  const told: [string, boolean | undefined][] = [];
  const line = { show: (text: string, isLast?: boolean) => void told.push([text, isLast]), end: () => {} };
  showBytes(line, "x", 0, 1024);
  showBytes(line, "x", 1023, 1024);
  showBytes(line, "x", 1024, 1024);
  showBytes(line, "empty", 0, 0);
  expect(told).toEqual([
    ["x  0 B of 1.0 KiB (0 %)", false],
    ["x  1023 B of 1.0 KiB (99 %)", false],
    ["x  1.0 KiB of 1.0 KiB (100 %)", true],
    ["empty  0 B of 0 B (100 %)", true],
  ]);
});
