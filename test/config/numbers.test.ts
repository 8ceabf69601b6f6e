import { expect, test } from "vitest";
import { count, decay, fraction, orOff, positive, size, tokens } from "../../lib/config/numbers.ts";

/** A field, numbers it accepts, numbers it refuses; test/e2e/recipe-bounds.test.ts asks the core. */
test.each([
  ["positive", positive(), [1e-37, 1, 1e38], [0, -1, 1e-38, 1e39, Number.NaN, Number.POSITIVE_INFINITY]],
  ["positive up to 2", positive(2), [2], [2.1]],
  ["off or positive", orOff(), [0, 1e-37, 1e38], [-1, 1e-38, 1e39]],
  ["a fraction", fraction(), [0, 0.5, 1], [-1e-9, 1.1]],
  ["a decay", decay(), [0, 0.9999999], [1, Math.fround(0.99999999), -0.1]],
  ["a count", count(), [1, 2 ** 31 - 1], [0, 1.5, 2 ** 31]],
  ["tokens", tokens(), [1, 2 ** 30], [0, 2 ** 30 + 1]],
  ["a size", size(), [1, 2 ** 24], [0, 2 ** 24 + 1]],
])("%s", (_, schema, taken, refused) => {
  for (const value of taken) expect(schema.safeParse(value).success, String(value)).toBe(true);
  for (const value of refused) expect(schema.safeParse(value).success, String(value)).toBe(false);
});
