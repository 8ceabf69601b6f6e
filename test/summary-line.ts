import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { type Flaky, flakyOf, reportFlaky } from "./flaky.ts";
import { skipReason } from "./skip-reasons.ts";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/** Milliseconds between two progress lines. */
const TELL_MS = 15_000;
const FLAKY_LOG = "build/flaky.log";

/**
 * Prints progress every fifteen seconds. At the end it prints why tests were skipped, which tests passed only when
 * repeated, the given note, and on the last line "N passed, N failed, N skipped". scripts/test.mjs adds the count of C++ cases.
 */
export default class SummaryLine implements Reporter {
  readonly #running = new Set<string>();
  #files = 0;
  #done = 0;
  #tests = 0;
  #teller: NodeJS.Timeout | undefined;
  readonly #note: string;

  constructor({ note }: { readonly note?: string | undefined } = {}) {
    this.#note = note === undefined ? "" : `\n${note}`;
  }

  onTestRunStart(specifications: ReadonlyArray<unknown>): void {
    this.#files = specifications.length;
    // On a terminal vitest prints its own live lines.
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
    const native = process.env["HONE_NATIVE_COUNT"];
    const count: Count = native ? (JSON.parse(native) as Count) : { passed: 0, failed: 0, skipped: 0 };
    count.failed += errors.length;
    const skips = new Map<string, Map<string, number>>();
    const flaky: Flaky[] = [];
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === "passed" || state === "failed" ? state : "skipped"] += 1;
        const file = relative(process.cwd(), module.moduleId);
        if (state === "skipped") note(skips, reasonOf(test), file);
        const found = flakyOf(test, file);
        if (found !== undefined) flaky.push(found);
      }
    }
    const told = reportFlaky(flaky, FLAKY_LOG);
    process.on("exit", () => {
      process.stdout.write(
        `${skipText(skips)}${told.map((line) => `\n${line}`).join("")}${this.#note}\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`,
      );
    });
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

/** One paragraph per reason: how many tests, in which files. */
function skipText(skips: ReadonlyMap<string, ReadonlyMap<string, number>>): string {
  return [...skips]
    .map(([reason, files]) => {
      const total = [...files.values()].reduce((sum, n) => sum + n, 0);
      return `\nskipped ${total}: ${reason}\n${[...files].map(([file, n]) => `  ${file} (${n})`).join("\n")}\n`;
    })
    .join("");
}
