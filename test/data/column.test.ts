import { expect, test } from "vitest";
import { Column, Lines, Places } from "../../lib/data/column.ts";

test("numbers come back from every page", () => {
  const numbers = Array.from({ length: 3 * 2 ** 16 + 5 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 0);
  expect(backFrom(new Column(), numbers)).toEqual(numbers);
});

/** Pushes the numbers to a list and returns what the list then contains. */
function backFrom(list: Column | Places | Lines, numbers: readonly number[]): number[] {
  for (const number of numbers) list.push(number);
  expect(list.length).toBe(numbers.length);
  return numbers.map((_, i) => list.at(i));
}

test("places are what was put in, near each other, far apart, and going back", () => {
  const near = Array.from({ length: 200_000 }, (_, i) => 9e12 + 440 * i);
  expect(backFrom(new Places(), near)).toEqual(near);
  const far = near.map((place, i) => (i === 70_000 ? -i : i > 140_000 ? place + 2 ** 32 * (i % 3) : place));
  expect(backFrom(new Places(), far)).toEqual(far);
  expect(backFrom(new Places(), [0, 2 ** 32 - 1, 2 ** 32])).toEqual([0, 2 ** 32 - 1, 2 ** 32]);
});

test("places near each other take four bytes", () => {
  for (let i = 0; i < 2; i++) globalThis.gc!(); // the first collection finds the buffers unused, the second frees them
  const before = process.memoryUsage().arrayBuffers;
  const places = new Places();
  for (let i = 0; i < 1 << 20; i++) places.push(9e12 + 440 * i);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(6 << 20);
});

test("lines are what was put in, whatever is left out between them", () => {
  const lines = Array.from({ length: 5000 }, (_, i) => 1 + i + Math.floor(i / 7) + Number(i > 4000) * 9);
  expect(backFrom(new Lines(), lines)).toEqual(lines);
  expect(backFrom(new Lines(), [5, 6, 1, 2, 2, 3])).toEqual([5, 6, 1, 2, 2, 3]);
});
