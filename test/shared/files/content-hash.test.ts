import { expect, test } from "vitest";
import { contentHash } from "../../../lib/shared/files/content-hash.ts";

test("is the first half of the SHA-256 of the parts as JSON, as sha256sum gives it", () => {
  // printf '["a","b"]' | sha256sum
  expect(contentHash("a", "b")).toBe("0473ef2dc0d324ab659d3580c1134e9d");
});

test("tells parts apart wherever they are cut", () => {
  expect(contentHash("ab", "c")).not.toBe(contentHash("a", "bc"));
});
