import { expect, test } from "vitest";
import { recordedLast, recordSchema } from "../../lib/config/recorded-rollouts.ts";

test("all steps, none, or the last so many", () => {
  expect([true, false, "last:1", "last:20"].map(recordedLast)).toEqual([Number.POSITIVE_INFINITY, 0, 1, 20]);
});

test.each(["last:0", "last:", "last:2.5", "last", "20", "first:3", 20])("%s is refused", (record) => {
  expect(recordSchema.safeParse(record).success).toBe(false);
});
