// The quick start on two nodes of a real Open MPI, with the unchanged file that `hone launch mpirun` writes, ends with
// the weights of a run in one process.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { readPipelineStatus } from "../../lib/metrics/index.ts";
import { info } from "../../lib/native/index.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { freePort, noRedis } from "../streams/redis/redis-server.ts";
import { noMpirun, onNodes } from "./mpirun-nodes.ts";

const STEPS = 4;
const trainers = info().gloo.version === null ? 1 : 2;

const dir = mkdtempSync(join(tmpdir(), "hone-mpirun-run-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const execute = promisify(execFile);
const hone = (...args: readonly string[]) => execute(process.execPath, [...HONE, ...args], { cwd: ROOT });

/** Kills an actor after the run's first step. */
async function killActor(at: string, rank: number): Promise<void> {
  const rows = () => readPipelineStatus(at)?.processes ?? [];
  const isTraining = () => rows().some(({ name, version }) => name === "run" && version! > 0);
  while (!isTraining()) await new Promise((resolve) => setTimeout(resolve, 50));
  process.kill(rows().find(({ name }) => name === `actor.${rank}`)!.pid!, "SIGKILL");
}

describe.skipIf(noMpirun !== undefined || noRedis !== undefined)("two nodes of mpirun", () => {
  test.runIf(longest)(
    "2 actors and 2 trainers by real agents, one of which is killed on purpose: exit code 0, and the weights of one process",
    async () => {
      const [file, at] = [join(dir, "quickstart.sh"), join(dir, "mpirun")];
      mkdirSync(at);
      const together = ["hardware.processes.actors=2", `hardware.processes.trainers=${trainers}`];
      const wanted = ["--nodes", "2", "--grace", "5", "--dir", at, "--out", file, ...onNodes(dir, 2)];
      const settings = asWords(smallQuickstart(STEPS));
      const said = await hone("launch", "mpirun", QUICKSTART, ...wanted, ...settings, ...asWords(together));
      expect(said.stdout).toContain(`bash ${file}`);
      const master = { MASTER_ADDR: "127.0.0.1", MASTER_PORT: String(await freePort()) };
      const whole = execute("bash", [file], { env: { ...process.env, ...master } });
      await killActor(at, 1);
      const { stderr } = await whole; // rejects unless the exit code is 0
      for (const node of [0, 1]) expect(stderr).toContain(`node ${node}: session 1 of `);
      const logs = [0, 1].map((node) => readdirSync(join(at, "logs", `node-${node}`)).sort());
      const ofNode = (node: number) => [
        `actor-${node}.log`,
        ...(node < trainers ? [`trainer-${node}.log`] : []),
      ];
      expect(logs).toEqual([0, 1].map(ofNode));
      const exact = trainers > 1 ? ["hardware.sharding.exact=true"] : [];
      await hone("run", QUICKSTART, "--dir", join(dir, "one"), ...settings, ...asWords(exact));
      expect(weightsAfter(at, STEPS)).toBe(weightsAfter(join(dir, "one"), STEPS));
    },
    patient(60_000),
  );
});
