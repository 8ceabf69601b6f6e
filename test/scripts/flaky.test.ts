import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { isRetried } from "../retried.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hone-flaky-"));
symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs vitest in a folder with one test file and this project's reporter; returns its standard output. */
function ran(source: string): string {
  writeFileSync(join(folder, "some.test.mjs"), `import { expect, test } from "vitest";\n${source}`);
  const config = { test: { retry: 1, reporters: [join(ROOT, "test/summary-line.ts")] } };
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify(config)};`);
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  // The reporter would add the C++ tests that scripts/test.mjs has counted in this variable.
  const { HONE_NATIVE_COUNT: _, ...env } = process.env;
  return spawnSync(process.execPath, [vitest, "run"], { cwd: folder, env, encoding: "utf8" }).stdout;
}

test("a pass at the second try is counted, named and kept with its first failure; two failures are a failure", () => {
  const text = ran(`
    let tries = 0;
    test("late", () => expect(++tries).toBe(2));
    test("right", () => {});
    test("wrong", () => expect(1).toBe(2));
  `);
  expect(text.trim().split("\n").slice(-3)).toEqual([
    "flaky: some.test.mjs > late",
    "first failures: build/flaky.log",
    "2 passed, 1 failed, 0 skipped",
  ]);
  const kept = readFileSync(join(folder, "build/flaky.log"), "utf8");
  expect(kept).toContain("expected 1 to be 2");
  expect(kept.match(/^flaky: /gm)).toHaveLength(1);
});

test("tests that start processes or servers are repeated, tests of numbers never", () => {
  const starts = 'import { spawn } from "node:child_process";';
  expect(isRetried("test/e2e/chaos.test.ts", "")).toBe(true);
  expect(isRetried("test/cli/main.test.ts", starts)).toBe(true);
  expect(isRetried("test/cli/session-evaluation.test.ts", "")).toBe(true);
  expect(isRetried("test/contract/sharded-trainers.test.ts", starts)).toBe(false);
  expect(isRetried("test/rewards/length-penalty.test.ts", "")).toBe(false);
});
