import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { isDistFresh } from "./test/fixtures/fresh-dist.ts";
import { hasLong } from "./test/long.ts";
import { pathOfPython } from "./test/path-of-python.ts";
import { isRetried } from "./test/retried.ts";

// Test files share the modules that their worker has loaded, which saves a quarter of the processor time. One that puts
// other modules in their place, or loads them again, or measures what its process holds, has its own.
const WANTS_ITS_OWN = /\bvi\.(?:mock|doMock|resetModules)\(|\bresidentBytes\(/;
const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => join("test", name));
const alone = files.filter((file) => WANTS_ITS_OWN.test(readFileSync(file, "utf8")));
// npm run test:long leaves out files that npm test runs whole.
const left =
  process.env["HONE_TEST_FILES"] === "long"
    ? files.filter((file) => !hasLong(readFileSync(file, "utf8")))
    : [];
const retried = files.filter((file) => isRetried(file, readFileSync(file, "utf8")) && !alone.includes(file));

// Many tests wait, for processes, time limits or servers: one worker more than cores leaves none idle.
const WORKERS = Math.min(8, availableParallelism() + 1);

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: WORKERS,
    execArgv: ["--expose-gc"],
    // Processes and threads of the library begin with what users run, which loads in a third of the time.
    env: { ...(isDistFresh(import.meta.dirname) && { HONE_FROM_DIST: "1" }), ...pathOfPython() },
    expect: { poll: { timeout: 60_000 } }, // its second is no time on a machine that has others to serve
    setupFiles: ["./test/property-seed.ts", "./test/timeouts.ts"],
    reporters: ["default", "./test/summary-line.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...alone, ...retried, ...left],
        },
      },
      {
        extends: true,
        test: { name: "processes", isolate: false, retry: 1, include: retried, exclude: left },
      },
      { extends: true, test: { name: "alone", include: alone, exclude: left } },
    ],
  },
});
