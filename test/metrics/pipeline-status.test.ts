import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPipelineStatus } from "../../lib/metrics/index.ts";

test("is what lies there, and nothing where that cannot be read", () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-status-"));
  expect(readPipelineStatus(dir)).toBeUndefined();
  for (const [text, there] of [
    ['{"schema":1,"step":3}', true],
    ['{"schema":2}', false],
    ["null", false],
    ["{", false],
  ] as const) {
    writeFileSync(join(dir, "line.json"), text);
    expect(readPipelineStatus(dir) !== undefined, text).toBe(there);
  }
  rmSync(dir, { recursive: true });
});
