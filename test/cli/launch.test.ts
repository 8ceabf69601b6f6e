import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { jobOf, type LaunchFlags } from "../../lib/cli/launch.ts";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { ROOT } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { expectBash } from "../launch/jobs.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-launch-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const APRIEL = join(ROOT, "recipes/apriel-15b.ts");
const flags: LaunchFlags = { nodes: 8, set: [], grace: 120, restarts: 20 };

const hone = (...args: readonly string[]) => honeHere(["launch", ...args]);

describe("recipes/apriel-15b.ts on 8 nodes with 8 GPUs each", () => {
  test("a batch script for Slurm", async () => {
    const out = join(dir, "apriel.sbatch");
    const { status, stdout } = await hone(
      "slurm",
      APRIEL,
      "--nodes",
      "8",
      "--time",
      "36:00:00",
      "--dir",
      "/shared/apriel",
      "--out",
      out,
    );
    expect([status, stdout]).toEqual([0, expect.stringContaining(`sbatch ${out}`)]);
    const text = readFileSync(out, "utf8");
    expectBash(text);
    for (const order of ["nodes=8", "ntasks-per-node=1", "gres=gpu:8", "time=36:00:00"])
      expect(text).toContain(`#SBATCH --${order}\n`);
    expect(text).toContain(` agent ${APRIEL} --dir /shared/apriel &`);
    expect(statSync(out).mode & 0o111).not.toBe(0);
  });

  test("a JobSet", async () => {
    const made = await hone(
      "kubernetes",
      "recipes/apriel-15b.ts",
      "--nodes",
      "8",
      "--image",
      "hone:1",
      "--claim",
      "runs",
      "--out",
      "-",
    );
    expect(made.status).toBe(0);
    const node = parse(made.stdout).spec.replicatedJobs[1].template.spec;
    expect([node.completions, node.parallelism]).toEqual([8, 8]);
    const [agent] = node.template.spec.containers;
    expect(agent.resources).toEqual({ limits: { "nvidia.com/gpu": 8 } });
    const dir = ["--dir", "/shared/runs/apriel-15b"];
    expect(agent.command).toEqual([
      "node",
      "node_modules/hone-rl/dist/lib/cli/main.js",
      "agent",
      "recipes/apriel-15b.ts",
      ...dir,
    ]);
  });

  test("a script for mpirun", async () => {
    const { status, stdout } = await hone(
      "mpirun",
      APRIEL,
      "--nodes",
      "8",
      "--hostfile",
      "hosts",
      "--out",
      "-",
    );
    expect(status).toBe(0);
    expectBash(stdout);
    expect(stdout).toContain(
      "mpirun -np 8 --map-by ppr:1:node --mca odls_base_sigkill_timeout 30 --hostfile hosts",
    );
  });
});

test("a job has a GPU for each process of a node, and none for the CPU", async () => {
  const recipe = await loadRecipe(APRIEL);
  expect(jobOf(recipe, APRIEL, flags).gpusPerNode).toBe(8);
  expect(jobOf(recipe, APRIEL, { ...flags, nodes: 16 }).gpusPerNode).toBe(4);
  const quick = await loadRecipe(join(ROOT, "recipes/own-model.ts"), [
    "hardware.processes.actors=2",
    "hardware.processes.trainers=1",
  ]);
  expect(jobOf(quick, "r.ts", { ...flags, nodes: 2 })).toMatchObject({ gpusPerNode: 0, nodes: 2 });
});

test("settings go along, and paths are whole", async () => {
  const recipe = await loadRecipe(APRIEL);
  const { agent, dir: at, name } = jobOf(recipe, "r.ts", { ...flags, set: ["seed=1"], name: "other" });
  expect(agent).toEqual([resolve("r.ts"), "--dir", resolve("runs/apriel-15b"), "--set", "seed=1"]);
  expect([at, name]).toEqual([resolve("runs/apriel-15b"), "other"]);
});

const REFUSED: readonly [string[], string][] = [
  [["slurm", APRIEL, "--nodes", "73"], "fewer than 73 nodes"],
  [["slurm", APRIEL, "--nodes", "0"], '--nodes is "0"'],
  [["slurm", join(ROOT, "recipes/own-model.ts"), "--nodes", "2"], "how many processes sample"],
  [["slurm", APRIEL, "--nodes", "8", "--name", "a b"], "the job's name"],
];
test.each(REFUSED)("%j is refused: %s", async (args, message) => {
  const { status, stderr } = await hone(...args);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});
