import fc from "fast-check";
import { expect, test } from "vitest";
import { messagesOf } from "../../../lib/rewards/pool/messages.ts";

const sizes = (count: number, meanMs: number | undefined) =>
  messagesOf(count, meanMs).map(({ length }) => length);

test.each([
  ["nothing to judge", 0, 1, []],
  ["nobody knows how long it takes", 70, undefined, [6, 32, 32]],
  ["a message is judged in 20 ms", 90, 0.5, [10, 40, 40]],
  ["slow ones: a group goes together", 70, 500, [6, 32, 32]],
  ["quick ones: 256 at most", 600, 0.001, [88, 256, 256]],
  ["a clock too coarse to see them", 300, 0, [44, 256]],
] as const)("%s", (_, count, meanMs, expected) => {
  expect(sizes(count, meanMs)).toEqual(expected);
});

test("every completion is in one message, in order once the last is sent first", () => {
  fc.assert(
    fc.property(fc.nat(2000), fc.double({ min: 0, max: 100, noNaN: true }), (count, meanMs) => {
      expect(messagesOf(count, meanMs).reverse().flat()).toEqual(Array.from({ length: count }, (_, i) => i));
    }),
  );
});
