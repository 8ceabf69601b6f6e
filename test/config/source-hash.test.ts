import { expect, test } from "vitest";
import { sourceHash } from "../../lib/config/source-hash.ts";

test("another text is another hash, white space is not", () => {
  const hashOf = (source: string) => sourceHash(new Function(`return (${source})`)() as () => unknown);
  expect(hashOf("({ out }) => out.fill(1)")).toBe(hashOf("({  out }) =>\n    out.fill(1)"));
  expect(hashOf("({ out }) => out.fill(1)")).not.toBe(hashOf("({ out }) => out.fill(2)"));
  expect(hashOf("() => 1")).toMatch(/^[0-9a-f]{64}$/);
});
