import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hasLong } from "./long.ts";
import { isRetried } from "./retried.ts";

/**
 * Test files share the modules that their worker has loaded, which saves a quarter of the processor time. One that
 * puts other modules in their place, or loads them again, or measures what its process holds, has its own.
 */
const WANTS_ITS_OWN = /\bvi\.(?:mock|doMock|resetModules)\(|\bresidentBytes\(/;

/** Which test files vitest runs, and how. */
export interface Chosen {
  readonly shared: readonly string[];
  /** They start processes, browsers or servers. */
  readonly processes: readonly string[];
  /** Test files that load their own copy of every module. */
  readonly alone: readonly string[];
  /** What `npm test` prints about the files that it leaves out. */
  readonly note: string | undefined;
}

/**
 * @param asked HONE_TEST_FILES: "no-processes" (`npm test`) leaves out the files that start processes, "processes"
 *     (`npm run test:processes`) all others, "long" (`npm run test:long`) those that the other two run whole
 */
export function chosenFiles(asked: string | undefined): Chosen {
  const text = new Map(testFiles().map((file) => [file, readFileSync(file, "utf8")]));
  const alone = [...text.keys()].filter((file) => WANTS_ITS_OWN.test(text.get(file)!));
  const processes = [...text.keys()].filter(
    (file) => isRetried(file, text.get(file)!) && !alone.includes(file),
  );
  const shared = [...text.keys()].filter((file) => !alone.includes(file) && !processes.includes(file));
  const isRun = (file: string) => asked !== "long" || hasLong(text.get(file)!);
  const note = `${processes.length} files that start processes, browsers or servers were left out: npm run test:processes`;
  return {
    shared: asked === "processes" ? [] : shared.filter(isRun),
    processes: asked === "no-processes" ? [] : processes.filter(isRun),
    alone: asked === "processes" ? [] : alone.filter(isRun),
    note: asked === "no-processes" ? note : undefined,
  };
}

/** Every test file of the package, by its path from the root. */
export const testFiles = (): string[] =>
  readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("test", name));
