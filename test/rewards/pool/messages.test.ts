import fc from "fast-check";
import { expect, test } from "vitest";
import { groupedMessages, messagesOf } from "../../../lib/rewards/pool/messages.ts";

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

test("groups stay whole, and as many go together as are quick: the first is sent last", () => {
  const groups = [3, 3, 3, 40, 2, 30].flatMap((size, group) => new Array<number>(size).fill(group));
  const sizesOf = (meanMs: number | undefined) =>
    groupedMessages(groups.length, meanMs, (i) => groups[i] === groups[i - 1])
      .reverse()
      .map((message) => message.map((i) => groups[i]!))
      .map((message) => [message.length, new Set(message).size]);
  expect(sizesOf(undefined)).toEqual([
    [9, 3],
    [40, 1],
    [32, 2],
  ]);
  expect(sizesOf(0.001)).toEqual([[81, 6]]);
  expect(groupedMessages(0, undefined, () => true)).toEqual([]);
  const all = groupedMessages(groups.length, 1, (i) => groups[i] === groups[i - 1]);
  expect(all.reverse().flat()).toEqual(groups.map((_, i) => i));
});
