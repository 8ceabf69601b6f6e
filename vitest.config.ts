import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { isDistFresh } from "./test/fixtures/fresh-dist.ts";
import { pathOfPython } from "./test/path-of-python.ts";
import { chosenFiles } from "./test/which-files.ts";

const { shared, processes, alone, note } = chosenFiles(process.env["HONE_TEST_FILES"]);

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
    reporters: ["default", ["./test/summary-line.ts", { note }]],
    projects: [
      { extends: true, test: { name: "shared", isolate: false, include: [...shared] } },
      {
        extends: true,
        test: { name: "processes", isolate: false, retry: 1, include: [...processes] },
      },
      { extends: true, test: { name: "alone", include: [...alone] } },
    ],
  },
});
