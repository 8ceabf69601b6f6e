import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { selfTestText } from "../../lib/cli/doctor-cluster.ts";
import type { SelfTestReport } from "../../lib/fleet/index.ts";
import { info } from "../../lib/native/index.ts";
import { serveStore } from "../../lib/streams/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { long, longest } from "../long.ts";
import { patient } from "../patience.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-self-test-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const doctor = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [...HONE, "doctor", "--cluster", ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
const rankOf = (rank: number, size: number) => ({
  RANK: String(rank),
  WORLD_SIZE: String(size),
  LOCAL_RANK: String(rank),
  LOCAL_WORLD_SIZE: String(size),
  GROUP_RANK: "0",
});
const DEADLINE = String(patient(1000) / 1000);
const PATIENCE = String(patient(4000) / 1000);

describe.skipIf(info().gloo.version === null)("hone doctor --cluster", () => {
  test.runIf(long)(
    "ranks of this machine: bandwidth, three tests, exit 0",
    () => {
      const { status, stdout, stderr } = doctor(["--processes", "3", "--deadline", DEADLINE]);
      expect([status, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^all-reduce +16,777,216 +[\d.]+ +[\d.]+$/m);
      expect(stdout).toMatch(/^broadcast +4,096 +[\d.]+ +[\d.]+$/m);
      expect(stdout.match(/^passed: rank 2 /gm)).toHaveLength(3);
      expect(stdout).toContain("all 3 ranks started, and every test passed");
    },
    patient(60_000),
  );

  test(
    "a rank that nobody started is named, and the exit code is not 0",
    async () => {
      const store = `unix:${join(dir, "missing.sock")}`;
      await using _ = await serveStore(store, { run: "doctor-cluster" });
      const args = ["doctor", "--cluster", "--store", store, "--wait", "1"];
      const { status, stdout, stderr } = await honeHere(args, rankOf(0, 2));
      expect([status, stdout]).toEqual([3, ""]);
      expect(stderr).toMatch(/HONE_ERR_COLLECTIVE +rank\(s\) 1 of 2 did not connect within 1 s/);
    },
    patient(60_000),
  );

  test.runIf(longest)(
    "a rank that is killed on the way is named by the others",
    async () => {
      const store = `unix:${join(dir, "killed.sock")}`;
      await using watch = await serveStore(store, { run: "doctor-cluster" });
      // the tests are long, so that one can be killed while they run; the others wait for it until the deadline
      const args = [...HONE, "doctor", "--cluster", "--store", store, "--deadline", "10", "--wait", PATIENCE];
      const started = [0, 1, 2].map((rank) =>
        spawn(process.execPath, args, {
          stdio: ["ignore", "ignore", "pipe"],
          env: { ...process.env, ...rankOf(rank, 3) },
        }),
      );
      const said = started.map(({ stderr }) => stderr!.setEncoding("utf8").toArray());
      expect(await watch.kv.waitFor("rendezvous/called", { waitMs: patient(30_000) })).toBeDefined();
      started[1]!.kill("SIGKILL");
      const ends = await Promise.all(started.map((child) => once(child, "exit")));
      expect(ends.map(([code]) => code)).toEqual([3, null, 3]);
      for (const rank of [0, 2]) expect((await said[rank]!).join("")).toMatch(/rank\(s\) 1 /);
    },
    patient(120_000),
  );
});

test("without a launcher it says what starts it", async () => {
  const { status, stderr } = await honeHere(["doctor", "--cluster"], {
    RANK: "",
    SLURM_PROCID: "",
    OMPI_COMM_WORLD_RANK: "",
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(/was not started by a launcher.*\n.*--processes 2/);
});

test("what an option has wrong is said once, before any rank starts", async () => {
  const { status, stderr } = await honeHere(
    ["doctor", "--cluster", "--processes", "2", "--deadline", "x"],
    {},
  );
  expect([status, stderr]).toEqual([
    2,
    'HONE_ERR_USAGE  --deadline is "x"; it must be a number of seconds above 0 and at most 86400 (a day)\n',
  ]);
});

test("a failed test names the ranks that were not told", () => {
  const report: SelfTestReport = {
    ranks: [0, 1].map((rank) => ({ rank, host: "node", pid: 10 + rank, nonce: "" })),
    timings: [{ call: "broadcast", bytes: 2_000_000, seconds: 0.001 }],
    drills: [{ what: "rank 1 does not connect", failed: [0], seconds: 4, words: "" }],
  };
  expect(selfTestText(report, 80).split("\n")).toEqual([
    "rank  host  process",
    "0     node       10",
    "1     node       11",
    "",
    "call           bytes    ms  MB/s",
    "broadcast  2,000,000  1.00  2000",
    "",
    "FAILED: rank 1 does not connect; the others were notified within 4.00 s",
    "  rank(s) 0 were not notified, or not of the rank at fault",
    "",
    "1 of 1 tests failed",
  ]);
});
