import type { Reporter, TestModule } from "vitest/node";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints "N passed, N failed, N skipped" alone on the last line, for people and for CI;
 * scripts/test.mjs hands over the count of the C++ cases that ran before.
 */
export default class SummaryLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    const native = process.env["HONE_NATIVE_COUNT"];
    const count: Count = native ? (JSON.parse(native) as Count) : { passed: 0, failed: 0, skipped: 0 };
    count.failed += errors.length;
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === "passed" || state === "failed" ? state : "skipped"] += 1;
      }
    }
    process.on("exit", () => {
      process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
    });
  }
}
