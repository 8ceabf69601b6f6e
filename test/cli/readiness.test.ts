// The paper's recipe on 8 nodes, without a GPU: a real Slurm starts 8 agents, and they start every process, which stops
// before it opens its device. Starting all 72 takes minutes of processor time.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { info } from "../../lib/native/index.ts";
import { noSlurm, SlurmCluster } from "../e2e/slurm-cluster.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { asWords } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

const NODES = 8;
const top = mkdtempSync(join(tmpdir(), "hone-dry-run-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const ROW = /^(\d) +(\d) +((?:trainer|actor|verifier)\.\d+) +(\d+) +([\d.]+) +(\d+)$/gm;

/**
 * Returns the table that `hone agent --dry-run` prints on 8 nodes. @param each the number of trainers, and of actors,
 * of a node
 */
async function tableOf(each: number, dir: string): Promise<string> {
  await using slurm = await SlurmCluster.start(NODES);
  await using store = await RedisServer.start(["--appendonly", "no"]);
  const nodes = [`--nodes=${NODES}`, "--ntasks-per-node=1", `--chdir=${ROOT}`];
  const ranks = each * NODES;
  const gpus = [
    `hardware.gpus=${2 * ranks}`,
    `hardware.processes.actors=${ranks}`,
    `hardware.processes.trainers=${ranks}`,
  ];
  const agent = [...HONE, "agent", join(ROOT, "recipes/apriel-15b.ts"), "--dry-run", ...asWords(gpus)];
  const where = ["--dir", dir, "--store", `${store.url}?appendonly=no`];
  return await slurm.run("srun", ...nodes, process.execPath, ...agent, ...where); // rejects unless every task exits with 0
}

/** Runs `hone agent` and compares every row of the table. @param each the number of trainers, and of actors, of a node */
async function expectFilled(each: number) {
  const dir = join(top, String(each));
  const table = await tableOf(each, dir);
  const rows = [...table.matchAll(ROW)].map(([, node, slot, name, epoch, host, pid]) => {
    return { node: Number(node), slot: Number(slot), name: name!, epoch, host, pid };
  });
  const names = Array.from({ length: NODES }, (_, node) =>
    ["trainer", "actor"]
      .flatMap((role) => Array.from({ length: each }, (_, i) => `${role}.${each * node + i}`))
      .concat(`verifier.${node}`),
  );
  const ofNode = 2 * each + 1;
  expect(rows.map(({ name }) => name)).toEqual(names.flat());
  expect(rows.map(({ node, slot }) => ofNode * node + slot)).toEqual(rows.map((_, i) => i));
  expect(new Set(rows.map(({ pid }) => pid)).size).toBe(rows.length);
  expect(new Set(rows.map(({ epoch, host }) => `${epoch} ${host}`))).toEqual(new Set(["1 127.0.0.1"]));
  expect(table).toContain(`all ${ofNode * NODES} processes on 8 nodes have started; no device was opened`);
  const logs = names.map((own) => own.map((name) => `${name.replace(".", "-")}.log`).sort());
  expect(logs).toEqual(logs.map((_, node) => readdirSync(join(dir, "logs", `node-${node}`)).sort()));
}

describe.skipIf(noSlurm !== undefined || noRedis !== undefined || info().gloo.version === null)(
  "hone agent --dry-run on 8 nodes of Slurm: all fill their places, trainers connect, agents exit with 0",
  () => {
    test.runIf(longest)("24 processes", () => expectFilled(1), patient(90_000));
    test.runIf(longest)("the paper's 72", () => expectFilled(4), patient(90_000));
  },
);

test("hone run --dry-run without agents says what is meant", async () => {
  const { status, stderr } = await honeHere(["run", "recipes/quickstart.ts", "--dry-run"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(
    /--dry-run works only for a run whose processes agents start.*\n.*hone agent --dry-run/,
  );
});
