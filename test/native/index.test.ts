import { expect, test } from "vitest";
import { info } from "../../lib/native/index.ts";

test("info says what was built and what was found, or why not", () => {
  const found = info();
  expect(found.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(["avx512", "avx2", "baseline"]).toContain(found.isa);
  expect(found.threads).toBeGreaterThanOrEqual(1);
  expect(found.cuda.devices.length > 0 || found.cuda.reason !== null).toBe(true);
  expect((found.nccl.version === null) !== (found.nccl.reason === null)).toBe(true);
});
