// A paused run in a process that does nothing else waits for a request to continue, and does not end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { defineRecipe } from "../../lib/config/index.ts";
import { RUN_FILES, readPipelineStatus, readRunLog, writeWhole } from "../../lib/metrics/index.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/weights-hash.ts";
import { childProgram } from "../fixtures/child-program.ts";
import { longest } from "../long.ts";
import { inlineVerifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const WAIT = { timeout: patient(30_000), interval: 50 };
/** More steps than the run reaches, even if the request comes late; the test ends it earlier. */
const STEPS = 100_000;

test.skipIf(!longest || noAddon !== undefined)(
  "a paused run stays, with nothing under way, until it is asked to go on",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "hone-paused-"));
    const training = JSON.stringify({ steps: STEPS, groupsPerStep: 2, schedule: "sync" });
    const program = await childProgram(join(import.meta.dirname, "run-child.ts"));
    const child = spawn(process.execPath, [...program, dir, "never", training], {
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
      await vi.waitFor(() => expect(readPipelineStatus(dir)?.step).toBeGreaterThan(1), WAIT);
      ask("pause");
      await vi.waitFor(
        () => expect(readPipelineStatus(dir)?.waits.sentence).toContain("nothing is under way"),
        WAIT,
      );
      const { writtenMs } = readPipelineStatus(dir)!;
      await vi.waitFor(
        () => expect(readPipelineStatus(dir)!.writtenMs).toBeGreaterThan(writtenMs + 1500),
        WAIT,
      );
      expect(child.exitCode).toBeNull();
      ask("checkpoint");
      const { step } = readPipelineStatus(dir)!;
      await vi.waitFor(
        () =>
          expect(readPipelineStatus(dir)!.requests).toContainEqual(
            expect.objectContaining({ action: "checkpoint", state: "done" }),
          ),
        WAIT,
      );
      expect(existsSync(join(dir, "checkpoints", `step-${String(step).padStart(6, "0")}`))).toBe(true);
      ask("resume");
      await vi.waitFor(() => expect(readPipelineStatus(dir)!.step).toBeGreaterThan(step!), WAIT);
      ask("stop");
      expect(await ended).toEqual([0, null]);
      const steps = readRunLog(join(dir, RUN_FILES.log)).map((record) => record.step);
      expect(steps).toEqual(steps.map((_, i) => i + 1)); // no step is repeated or missing
    } finally {
      child.kill("SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    }
  },
  patient(300_000),
);

test.skipIf(noAddon !== undefined)(
  "a checkpoint asked for at any moment between steps, groups under way, resumes to the bits of an undisturbed run",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "hone-asked-"));
    const recipe = defineRecipe(tinyInput({ steps: 8, schedule: "sync" }));
    const hashOf = (folder: string) => weightsHash(join(folder, "checkpoints", "step-000008"));
    // verdicts take 10 ms, so that a checkpoint meets groups without them
    const verify: typeof inlineVerifiers.verify = (...args) =>
      setTimeout(10).then(() => inlineVerifiers.verify(...args));
    const verifiers = { ...inlineVerifiers, verify };
    const open = (name: string, resume: "auto" | "never") =>
      createRun(recipe, { dir: join(dir, name), resume, verifiers });
    try {
      await using whole = await open("whole", "never");
      await whole.finished;
      let asked = 0;
      let underWay = 0;
      for (let ended = false; !ended; ) {
        await using run = await open("asked", asked === 0 ? "never" : "auto");
        let saved: Promise<string> | undefined;
        for await (const { step } of run) {
          if (step <= asked || step === 8 || saved !== undefined) continue;
          await setTimeout(asked % 3);
          saved = run.checkpoint();
          asked = step;
          const path = await saved;
          if (/outstanding\\":\[\{/.test(readFileSync(join(path, "manifest.json"), "utf8"))) underWay += 1;
          void run.stop({ save: false });
        }
        ended = (await run.finished).reason === "done";
      }
      expect(asked).toBeGreaterThan(0);
      expect(underWay).toBeGreaterThan(0);
      expect(hashOf(join(dir, "asked"))).toBe(hashOf(join(dir, "whole")));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
  patient(120_000),
);
