import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { HONE } from "../fixtures/command-line.ts";
import { noAddon } from "./native-core.ts";

/**
 * Recorded with the code of 2026-11-22 (ea05bec) on x86-64's base instruction set: asynchronous, some rollouts with
 * two weight versions, a log without verdicts. If a change fails here, users' recorded runs no longer replay.
 */
const RECORDED = fileURLToPath(new URL("../fixtures/recorded-run", import.meta.url));

test.skipIf(noAddon !== undefined || process.arch !== "x64")(
  "a run recorded by an earlier version replays to the bit",
  () => {
    const env = { ...process.env, HONE_ISA: "baseline" };
    const { stdout, stderr } = spawnSync(process.execPath, [...HONE, "replay", RECORDED], {
      encoding: "utf8",
      env,
    });
    expect(stdout + stderr).toMatch(/^the same to the bit: 6 steps, 384 rollouts, weights [0-9a-f]{64}$/m);
  },
);
