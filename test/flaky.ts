import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { TestCase } from "vitest/node";

/** A test that failed and then passed, with its first failure. */
export interface Flaky {
  /** The file, the suites and the test's name. */
  readonly name: string;
  readonly failure: string;
}

/** Describes a flaky test for the reporter; undefined if the test is not flaky. */
export function flakyOf(
  test: Pick<TestCase, "fullName" | "diagnostic" | "result">,
  file: string,
): Flaky | undefined {
  if (!test.diagnostic()?.flaky) return undefined;
  const [first] = test.result().errors ?? [];
  const failure = first?.stack ?? first?.message ?? "no error was kept";
  return { name: `${file} > ${test.fullName}`, failure };
}

/**
 * Returns the lines `flaky: <name>` to print. Writes the first failures to `path`, or removes that file if no test
 * was flaky.
 */
export function reportFlaky(flaky: readonly Flaky[], path: string): string[] {
  rmSync(path, { force: true });
  if (flaky.length === 0) return [];
  mkdirSync(dirname(path), { recursive: true });
  for (const { name, failure } of flaky) appendFileSync(path, `flaky: ${name}\n${failure}\n\n`);
  return [...flaky.map(({ name }) => `flaky: ${name}`), `first failures: ${path}`];
}
