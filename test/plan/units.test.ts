import { expect, test } from "vitest";
import { fromUnits, inUnits } from "../../lib/plan/units.ts";

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1.0 KiB"],
  [1.5 * 2 ** 30, "1.5 GiB"],
  [2 ** 42, "4.0 TiB"],
  [2 ** 52, "4096.0 TiB"],
  [0.5, "1 B"],
])("%d is %s", (bytes, text) => {
  expect(inUnits(bytes)).toBe(text);
});

test.each([
  ["80GiB", 80 * 2 ** 30],
  ["80 GB", 80e9],
  ["79.6gib", 79.6 * 2 ** 30],
  ["512M", 512e6],
  ["1024", 1024],
  ["17B", 17],
  ["2 TiB", 2 ** 41],
  ["", undefined],
  ["80 GiB of it", undefined],
  ["-3GiB", undefined],
  ["GiB", undefined],
])("%j stands for %j bytes", (text, bytes) => {
  expect(fromUnits(text)).toBe(bytes);
});
