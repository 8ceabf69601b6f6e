import { expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/function-calling/reference.ts";

test("some of several calls earn their share, and never all of the score", () => {
  expect(REFERENCE.creditFor(0.5)).toBe(0.5);
  expect(REFERENCE.creditFor(1)).toBeLessThan(1);
  expect(REFERENCE.responseOf("<think>a</think>b")).toBe("<think>a</think>b");
});
