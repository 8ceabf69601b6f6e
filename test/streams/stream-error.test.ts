import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { fencedBy, StreamError } from "../../lib/streams/stream-error.ts";

test.each([
  ["lost", "the store does not hold run s: 4"],
  ["fenced", "this process is out of date: register s 4"],
  ["lease-lost", "stream s: the lease of entry 4 has passed to another consumer"],
  ["trimmed", "stream s: entries up to 4 were deleted (trimmed), but the cursor points to an earlier one"],
  ["ahead", "stream s ends at entry 4, before the reader's cursor: the store is older than the cursor"],
  ["held", "stream s cannot be trimmed: 4"],
] as const)("%s says what is there", (why, message) => {
  const error = new StreamError({ why, about: "s", found: "4" });
  expect(HoneError.is(error)).toBe(true);
  expect(error).toMatchObject({ code: "HONE_ERR_STREAM", name: "StreamError", why, message });
  expect(error.details).toEqual({ why, about: "s", found: "4" });
});

test("a fence names both values", () => {
  expect(fencedBy(undefined, "2")).toBe('is not set, not "2"');
  expect(fencedBy("3", "2")).toBe('is "3", not "2"');
});
