// The quick start on two nodes of a real Slurm, with the file that `hone launch slurm` writes: it is killed, stopped by
// a signal and requeued, and ends with the weights of an undisturbed run.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPipelineStatus } from "../../lib/metrics/index.ts";
import { info } from "../../lib/native/index.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { freePort, noRedis, RedisServer } from "../streams/redis/redis-server.ts";
import { noSlurm, SlurmCluster } from "./slurm-cluster.ts";

const STEPS = 24;
const SMALL = smallQuickstart(STEPS);
const trainers = info().gloo.version === null ? 1 : 2;
const processes = { actors: 2, trainers, verifiers: 1 };
const TOGETHER = Object.entries(processes).map(([role, count]) => `hardware.processes.${role}=${count}`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const dir = mkdtempSync(join(tmpdir(), "hone-slurm-run-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function hone(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...HONE, ...args], { cwd: ROOT });
  return stdout;
}

const weightsOf = (run: string) => weightsAfter(join(dir, run), STEPS);

/** The hash of an undisturbed run in one process, which sums like several trainers. */
let alone: Promise<string> | undefined;
const weightsOfOne = () => {
  const exact = trainers > 1 ? ["hardware.sharding.exact=true"] : [];
  alone ??= hone("run", QUICKSTART, "--dir", join(dir, "one"), ...asWords([...SMALL, ...exact])).then(() =>
    weightsOf("one"),
  );
  return alone;
};

const steps = (run: string): number => {
  const at = join(dir, run, "checkpoints");
  const names = existsSync(at) ? readdirSync(at).filter((name) => /^step-\d+$/.test(name)) : [];
  return Math.max(0, ...names.map((name) => Number(name.slice("step-".length))));
};
async function reachStep(run: string, step: number): Promise<void> {
  while (steps(run) < step) {
    if (steps(run) === STEPS) throw new Error(`${run} was over before it was disturbed`);
    await sleep(50);
  }
}

/** The id of the process whose command line and environment contain these. */
function processOf(run: string, variable: string): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = all.find((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      return (
        words[0] === process.execPath &&
        words.includes("agent") &&
        words.includes(join(dir, run)) &&
        environment.includes(variable)
      );
    } catch {
      return false; // the process has ended in the meantime
    }
  });
  expect(found).toBeDefined();
  return Number(found);
}

describe.skipIf(noSlurm !== undefined || noRedis !== undefined)("two nodes of Slurm", () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start();
  });
  afterAll(() => slurm?.[Symbol.asyncDispose]());

  test.runIf(longest && info().gloo.version !== null)(
    "hone doctor --cluster, started by srun: every rank, every call, every test, and exit code 0",
    async () => {
      await using store = await RedisServer.start();
      const tasks = ["--nodes=2", "--ntasks-per-node=1", `--chdir=${ROOT}`];
      const doctor = ["doctor", "--cluster", "--deadline", String(patient(1000) / 1000)];
      const words = [...tasks, process.execPath, ...HONE, ...doctor, "--store", store.url];
      const table = await slurm.run("srun", ...words); // rejects unless all ranks end with 0
      const ranks = [...table.matchAll(/^(\d) +127\.0\.0\.1 +(\d+)$/gm)];
      expect(ranks.map(([, rank]) => rank)).toEqual(["0", "1"]);
      expect(new Set(ranks.map(([, , pid]) => pid)).size).toBe(2);
      for (const node of ["n1", "n2"]) expect(slurm.logOf(node)).toMatch(/launch task StepId=/);
      expect(table).toMatch(/^barrier +- +[\d.]+ +-$/m);
      for (const call of ["all-reduce", "broadcast"])
        for (const bytes of ["4,096", "1,048,576", "16,777,216"])
          expect(table).toMatch(new RegExp(`^${call} +${bytes} +[\\d.]+ +[\\d.]+$`, "m"));
      const tests = ["does not connect", "is silent in a collective", "makes another call"];
      for (const what of tests)
        expect(table).toContain(`passed: rank 1 ${what}; the others were notified within`);
      expect(table).toContain("all 2 ranks started, and every test passed");
    },
    patient(60_000),
  );

  test.runIf(longest)(
    "an agent killed, then SIGTERM: requeued twice, and the weights are those of one undisturbed process",
    async () => {
      const one = weightsOfOne();
      const file = join(dir, "quickstart.sbatch");
      const at = join(dir, "slurm");
      const wanted = ["--nodes", "2", "--dir", at, "--out", file, ...asWords([...SMALL, ...TOGETHER])];
      expect(await hone("launch", "slurm", QUICKSTART, ...wanted)).toContain(`sbatch ${file}`);
      await slurm.run("mkdir", "-p", at);
      const id = await slurm.submit(`--export=ALL,MASTER_PORT=${await freePort()}`, file);
      const disturbed = (async () => {
        await reachStep("slurm", 2);
        process.kill(processOf("slurm", "SLURM_NODEID=1"), "SIGKILL");
        // waits for the second session, because a signal during the first one's end would be lost
        while ((await slurm.facts(id))["Restarts"] !== "1") await sleep(250);
        await reachStep("slurm", steps("slurm") + 1);
        await slurm.run("scancel", "--batch", "--signal=TERM", id);
      })();
      disturbed.catch(() => {}); // the error is reported after the job's end
      const end = await slurm
        .reach(id, ["COMPLETED", "FAILED", "CANCELLED"], patient(150_000))
        .catch((error) => {
          throw new Error(readFileSync(join(at, `slurm-${id}.log`), "utf8").slice(-4000), { cause: error });
        });
      expect(end, readFileSync(join(at, `slurm-${id}.log`), "utf8").slice(-4000)).toMatchObject({
        JobState: "COMPLETED",
        ExitCode: "0:0",
        Restarts: "2",
      });
      await disturbed;
      expect(weightsOf("slurm")).toBe(await one);
      const judges = readPipelineStatus(at)!.processes!.filter(({ name }) => name.startsWith("verifier."));
      expect(judges.map(({ name }) => name)).toEqual(["verifier.0"]); // no verifier pool runs besides
      expect(judges[0]!.doing).toMatch(/, [1-9]\d* judged$/);
    },
    patient(200_000),
  );
});
