import { expect, test } from "vitest";
import { lockFolder } from "../../lib/folder-lock.ts";
import { readStatus } from "../../lib/runs/index.ts";
import { writeStatus } from "../live/live-run.ts";
import { scratch, writeRun } from "./folders.ts";

const processes = [
  { name: "run", pid: 1, state: "alive" as const, restarts: 0, doing: "decides" },
  { name: "actor.0", pid: 2, state: "alive" as const, restarts: 1, doing: "samples 3" },
];

test("a run is silent while its folder is held and line.json is old; of one that is over nobody is alive", async () => {
  const dir = writeRun(scratch(), { ofSteps: 20 });
  expect(await readStatus(dir)).toMatchObject({ state: "killed", line: undefined, processes: [], steps: 3 });
  writeStatus(dir, { processes });
  {
    using _ = await lockFolder(dir);
    expect(await readStatus(dir)).toMatchObject({ state: "running", processes, ofSteps: 20 });
    writeStatus(dir, { processes, step: 5, writtenMs: Date.now() - 60_000 });
    expect(await readStatus(dir)).toMatchObject({ state: "silent", steps: 5 });
  }
  const { state, processes: gone } = await readStatus(dir);
  expect(state).toBe("killed");
  expect(gone).toEqual(
    processes.map(({ name, restarts, doing }) => ({ name, restarts, doing, state: "gone" })),
  );
});
