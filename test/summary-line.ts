import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { skipReason } from "./skip-reasons.ts";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/** Between two lines that say how far the run is. */
const TELL_MS = 15_000;

/**
 * Says every fifteen seconds how far the run is, and at the end why tests were skipped. How many passed, failed and were
 * skipped it writes to the file HONE_TEST_COUNT: scripts/test.mjs adds the C++ cases, and says it on the last line.
 */
export default class SummaryLine implements Reporter {
  readonly #running = new Set<string>();
  #files = 0;
  #done = 0;
  #tests = 0;
  #teller: NodeJS.Timeout | undefined;

  onTestRunStart(specifications: ReadonlyArray<unknown>): void {
    this.#files = specifications.length;
    // A terminal has vitest's own live lines.
    if (!process.stdout.isTTY) this.#teller = setInterval(() => this.#tell(), TELL_MS).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(relative("test", module.moduleId));
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(relative("test", module.moduleId));
    this.#done += 1;
    this.#tests += [...module.children.allTests()].length;
  }

  #tell(): void {
    const running = [...this.#running].join(", ");
    console.log(`${this.#done} of ${this.#files} files, ${this.#tests} tests; running: ${running}`);
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    clearInterval(this.#teller);
    const count: Count = { passed: 0, failed: errors.length, skipped: 0 };
    const skips = new Map<string, Map<string, number>>();
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === "passed" || state === "failed" ? state : "skipped"] += 1;
        if (state === "skipped") note(skips, reasonOf(test), relative(process.cwd(), module.moduleId));
      }
    }
    const file = process.env["HONE_TEST_COUNT"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(count));
    process.on("exit", () => process.stdout.write(skipText(skips))); // after vitest's own lines
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  const names = [test.name];
  for (let at = test.parent; at.type === "suite"; at = at.parent) names.push(at.name);
  const given = result.state === "skipped" ? result.note : undefined;
  return skipReason(given, names, readFileSync(test.module.moduleId, "utf8"));
}

function note(skips: Map<string, Map<string, number>>, reason: string, file: string): void {
  const files = skips.get(reason) ?? new Map<string, number>();
  skips.set(reason, files.set(file, (files.get(file) ?? 0) + 1));
}

/** A paragraph a reason: how many tests, of which files. */
function skipText(skips: ReadonlyMap<string, ReadonlyMap<string, number>>): string {
  return [...skips]
    .map(([reason, files]) => {
      const total = [...files.values()].reduce((sum, n) => sum + n, 0);
      return `\nskipped ${total}: ${reason}\n${[...files].map(([file, n]) => `  ${file} (${n})`).join("\n")}\n`;
    })
    .join("");
}
