import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readStatus } from "../../lib/runs/index.ts";
import { isLocked, lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { writeStatus } from "../live/live-run.ts";
import { scratch, writeRun } from "./folders.ts";

vi.mock("../../lib/shared/files/folder-lock.ts", async (original) => {
  const real = await original<typeof import("../../lib/shared/files/folder-lock.ts")>();
  return { ...real, isLocked: vi.fn(real.isLocked) };
});

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

test("a run that ends while it is looked at is running with all its processes, or over", async () => {
  const dir = writeRun(scratch(), { ofSteps: 20 });
  writeStatus(dir, { processes });
  vi.mocked(isLocked).mockResolvedValueOnce(true).mockResolvedValue(false);
  expect(await readStatus(dir)).toMatchObject({ state: "running", processes });
  vi.mocked(isLocked).mockImplementation(async () => {
    writeRun(dir, { ofSteps: 20, state: "stopped" }); // a run writes this file last
    return false;
  });
  rmSync(join(dir, "summary.json"), { force: true });
  expect(await readStatus(dir)).toMatchObject({ state: "stopped" });
});
