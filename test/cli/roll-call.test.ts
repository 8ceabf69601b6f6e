// The paper's 64 processes on 8 nodes, without a GPU: a real Slurm starts 8 agents, which start all of them, up to where
// each would open its device.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { info } from "../../lib/native/index.ts";
import { noSlurm, SlurmCluster } from "../e2e/slurm-cluster.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { long } from "../long.ts";
import { patient } from "../patience.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

const NODES = 8;
const dir = mkdtempSync(join(tmpdir(), "hone-dry-run-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ROW = /^(\d) +(\d) +((?:trainer|actor)\.\d+) +(\d+) +([\d.]+) +(\d+)$/gm;
const hasAll = noSlurm === undefined && noRedis === undefined && info().gloo.version !== null;

describe.skipIf(!hasAll)("hone agent --dry-run", () => {
  test.runIf(long)(
    "the paper's recipe on 8 nodes of Slurm: 64 processes fill their places, 32 trainers connect, all exit with 0",
    async () => {
      await using slurm = await SlurmCluster.start(NODES);
      await using store = await RedisServer.start(["--appendonly", "no"]);
      const nodes = [`--nodes=${NODES}`, "--ntasks-per-node=1", `--chdir=${ROOT}`];
      const agent = [...HONE, "agent", join(ROOT, "recipes/apriel-15b.ts"), "--dry-run"];
      const where = ["--dir", dir, "--store", `${store.url}?appendonly=no`];
      const table = await slurm.run("srun", ...nodes, process.execPath, ...agent, ...where); // rejects unless all end with 0
      const rows = [...table.matchAll(ROW)].map(([, node, slot, name, epoch, host, pid]) => {
        return { node: Number(node), slot: Number(slot), name: name!, epoch, host, pid };
      });
      const wanted = Array.from({ length: NODES }, (_, node) =>
        ["trainer", "actor"].flatMap((role) =>
          Array.from({ length: 4 }, (_, i) => `${role}.${4 * node + i}`),
        ),
      );
      expect(rows.map(({ name }) => name)).toEqual(wanted.flat());
      expect(rows.map(({ node, slot }) => NODES * node + slot)).toEqual(rows.map((_, i) => i));
      expect(new Set(rows.map(({ pid }) => pid)).size).toBe(64);
      expect(new Set(rows.map(({ epoch, host }) => `${epoch} ${host}`))).toEqual(new Set(["1 127.0.0.1"]));
      expect(table).toContain("all 64 processes on 8 nodes are there; no device was opened");
      const logs = wanted.map((names) => names.map((name) => `${name.replace(".", "-")}.log`).sort());
      expect(logs).toEqual(logs.map((_, node) => readdirSync(join(dir, "logs", `node-${node}`)).sort()));
    },
    patient(60_000),
  );
});

test("hone run --dry-run without agents says what is meant", async () => {
  const { status, stderr } = await honeHere(["run", "recipes/quickstart.ts", "--dry-run"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/--dry-run is for a run whose processes agents start.*\n.*hone agent --dry-run/);
});
