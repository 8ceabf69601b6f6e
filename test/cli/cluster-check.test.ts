import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { clusterStages, shapeOf } from "../../lib/cli/cluster-check.ts";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { isForAgents } from "../../lib/config/index.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";

const check = (...args: readonly string[]) =>
  spawnSync(process.execPath, [...HONE, "check", ...args], { cwd: ROOT, encoding: "utf8" });

test.runIf(longest)(
  "apriel-15b is sound as 72 processes on 8 nodes, which is said apart from what runs here",
  () => {
    const { status, stdout, stderr } = check("recipes/apriel-15b.ts", "--launch", "--json");
    expect([status, stderr]).toEqual([0, ""]);
    const stages: readonly { name: string; ok: boolean; said: string }[] = JSON.parse(stdout).stages;
    const said = Object.fromEntries(stages.map((stage) => [stage.name, stage.said]));
    expect(stages.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["run"]);
    expect(said["memory"]).toMatch(/GiB on each of 32 \(actor\), [\d.]+ GiB on each of 32 \(trainer\)$/);
    expect(said["launch files"]).toMatch(/^8 agents on 8 nodes with 8 GPUs each/);
    expect(said["rendezvous"]).toMatch(
      /^72 ranks on 8 nodes .* node 0 has 4 trainers and 4 actors and 1 verifier hosts$/,
    );
    expect(said["simulation"]).toMatch(/^the first 25 steps under a virtual clock take [\d.]+ h/);
    expect(said["run"]).toContain("planned as 72 processes on 8 nodes of 8 GPUs");
    expect(said["run"]).toContain("hardware.nodes is 8, and this is one machine");
  },
  patient(60_000),
);

test(
  "without --launch what this machine refuses is no success, whatever is sound elsewhere",
  () => {
    const { status, stdout } = check(
      "recipes/quickstart.ts",
      ...["hardware.nodes=2", "hardware.processes.actors=2", "hardware.processes.trainers=2"].flatMap(
        (setting) => ["--set", setting],
      ),
    );
    expect([status, stdout]).toEqual([3, expect.stringMatching(/^✗ run /m)]);
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toContain("planned as 4 processes on 2 nodes; start it with hone launch slurm, kubernetes");
    expect(stdout.match(/^✗ /gm)).toHaveLength(1);
  },
  patient(60_000),
);

test("one machine and one GPU are no cluster; what no node could do is refused", async () => {
  expect(isForAgents(await loadRecipe("recipes/quickstart.ts"))).toBe(false);
  expect(isForAgents(await loadRecipe("recipes/single-gpu.ts"))).toBe(false);
  const local = ["hardware.processes.actors=2"];
  expect(isForAgents(await loadRecipe("recipes/quickstart.ts", local))).toBe(false);
  const apriel = await loadRecipe("recipes/apriel-15b.ts", ["hardware.nodes=4"]);
  expect(shapeOf(apriel)).toBe("72 processes on 4 nodes of 16 GPUs");
  const stages = await clusterStages({
    ...apriel,
    device: "cpu",
    hardware: { gpus: 1, recompute: false, nodes: 3, processes: { actors: 2, trainers: 1 } },
  });
  expect(stages.map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(stages[1]!.said).toContain("3 ranks on 3 nodes");
  expect(stages[2]!.said).toMatch(/^left out/);
});
