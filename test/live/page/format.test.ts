import { expect, test } from "vitest";

const module: string = "../../../lib/live/page/format.js";
const { show } = (await import(module)) as { show(value: number, unit: string): string };

test.each([
  [1.00471, "–", "1.0047"],
  [0.99512, "–", "0.9951"],
  [1, "–", "1"],
  [0.6471, "–", "0.647"],
  [1.2345, "–", "1.23"],
  [0.99512, "score", "0.995"],
  [0.99512, "fraction", "99.5 %"],
  [0.0042, "s", "4.2 ms"],
  [26_149, "tokens/s", "26.1k"],
  [3 * 2 ** 30, "bytes", "3.0 GiB"],
])("%d %s is shown as %s: of a ratio near 1 the distance from it", (value, unit, text) => {
  expect(show(value, unit)).toBe(text);
});
