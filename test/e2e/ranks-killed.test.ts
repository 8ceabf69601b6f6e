// All processes of a run are killed at once, the coordinator first; the run resumes with another number of trainer
// ranks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { info } from "../../lib/native/index.ts";
import { childProgram } from "../fixtures/child-program.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-ranks-killed-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const TRAINING = JSON.stringify({ steps: 6, schedule: "sync", packedTokens: 256 });
const PROGRAM = await childProgram(join(import.meta.dirname, "run-child.ts"));
const SHARING = { sharding: {} };

/** Runs a session; returns its output. @param until the line after which it kills itself */
async function sit(name: string, resume: string, hardware: object, until = ""): Promise<string[]> {
  const more = JSON.stringify({ hardware, checkpoint: { everySteps: 2 } });
  const args = [...PROGRAM, join(dir, name), resume, TRAINING, more];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HONE_TEST_LAST_LINE: until },
  });
  const ended = once(child, "close");
  const said: string[] = [];
  for await (const line of createInterface(child.stdout)) said.push(line);
  await ended;
  return said;
}

test.skipIf(!longest || info().gloo.version === null)(
  "two ranks trained, three go on: the weights are those of one process that was never disturbed",
  async () => {
    const processes = (trainers: number) => ({ ...SHARING, processes: { actors: 1, trainers } });
    const killed = await sit("ranks", "never", processes(2), "checkpoint 4");
    expect(killed.at(-1)).toBe("checkpoint 4");
    const whole = await sit("one", "never", SHARING);
    const resumed = await sit("ranks", "auto", processes(3));
    expect(resumed).toContain("step 5");
    expect(resumed).not.toContain("step 3");
    expect(resumed.at(-1)).toMatch(/^done 6 [0-9a-f]{64}$/);
    expect(resumed.at(-1)).toBe(whole.at(-1));
  },
  patient(600_000),
);
