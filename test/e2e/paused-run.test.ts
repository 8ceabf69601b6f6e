// A paused run in a process that has nothing else to do: it waits to be asked to go on, and does not end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { RUN_FILES, readLineStatus, readRunLog, writeWhole } from "../../lib/metrics/index.ts";
import { noAddon } from "./native-core.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const STEPS = 400;

test.skipIf(noAddon !== undefined)(
  "a paused run stays, with nothing under way, until it is asked to go on",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "hone-paused-"));
    const training = JSON.stringify({ steps: STEPS, groupsPerStep: 2, schedule: "sync" });
    const script = join(import.meta.dirname, "run-child.ts");
    const child = spawn(process.execPath, ["--import", "tsx", script, dir, "never", training], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, HONE_THREADS: "1" },
    });
    const ended = once(child, "close");
    const ask = (action: string) => {
      mkdirSync(join(dir, RUN_FILES.requests), { recursive: true });
      writeWhole(
        join(dir, RUN_FILES.requests, `${action}.json`),
        JSON.stringify({ schema: 1, id: action, action, by: "test" }),
      );
    };
    try {
      await vi.waitFor(() => expect(readLineStatus(dir)?.step).toBeGreaterThan(1), WAIT);
      ask("pause");
      await vi.waitFor(
        () => expect(readLineStatus(dir)?.waits.sentence).toContain("nothing is under way"),
        WAIT,
      );
      const { writtenMs } = readLineStatus(dir)!;
      await vi.waitFor(() => expect(readLineStatus(dir)!.writtenMs).toBeGreaterThan(writtenMs + 1500), WAIT);
      expect(child.exitCode).toBeNull();
      ask("resume");
      expect(await ended).toEqual([0, null]);
      expect(readRunLog(join(dir, RUN_FILES.log))).toHaveLength(STEPS);
    } finally {
      child.kill("SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    }
  },
  300_000,
);
