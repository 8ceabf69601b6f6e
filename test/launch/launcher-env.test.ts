import { expect, test } from "vitest";
import { readLauncherEnv } from "../../lib/launch/launcher-env.ts";
import { environmentOf } from "./environment-files.ts";

const alone = { rank: 0, worldSize: 1, localRank: 0, localSize: 1, nodeRank: 0, nodes: 1, restarts: 0 };

test("without a launcher a process is one of one", () => {
  expect(readLauncherEnv({ PATH: "/bin", RANK: "" })).toEqual({ launcher: "none", ...alone });
});

test("the innermost launcher speaks: mpirun within a job of Slurm, torchrun within a pod", () => {
  const mpirun = { ...environmentOf("slurm-first"), ...environmentOf("openmpi-one-node") };
  expect(readLauncherEnv(mpirun)).toMatchObject({ launcher: "openmpi", nodes: 1, localSize: 2 });
  const torch = { ...environmentOf("jobset"), ...environmentOf("torchrun") };
  expect(readLauncherEnv(torch)).toMatchObject({ launcher: "torchrun", worldSize: 8 });
});

test("the first node's address comes along where somebody says it", () => {
  expect(readLauncherEnv(environmentOf("torchrun")).master).toEqual({ address: "10.0.0.1", port: 29_500 });
  expect(readLauncherEnv(environmentOf("jobset")).master).toEqual({
    address: "apriel-15b-node-0-0.apriel-15b",
  });
  expect(readLauncherEnv(environmentOf("slurm-first"))).not.toHaveProperty("master");
});

test("a launch has a name that the next one of the same job does not have", () => {
  const launchOf = (name: string, changes = {}) => readLauncherEnv(environmentOf(name, changes)).launch;
  expect(launchOf("slurm-first")).toMatch(/^[^/]+\/1\.0\/0$/);
  expect(launchOf("slurm-requeued")).toBe(launchOf("slurm-first")!.replace(/0$/, "1"));
  expect(launchOf("slurm-first", { SLURM_STEP_ID: "3" })).not.toBe(launchOf("slurm-first"));
  expect(launchOf("slurm-first", { HONE_LAUNCH: "a shell's" })).toBe(launchOf("slurm-first"));
  expect(launchOf("openmpi-two-nodes", { HONE_LAUNCH: "1764-7-0" })).toBe("1764-7-0");
  expect(launchOf("jobset", { HONE_LAUNCH: "" }), "a cluster that has no such label").toBeUndefined();
  // mpirun within a Slurm job: the job's step ids do not identify launches of mpirun
  const mpirun = { ...environmentOf("slurm-first"), ...environmentOf("openmpi-two-nodes") };
  expect(readLauncherEnv(mpirun)).not.toHaveProperty("launch");
  expect(readLauncherEnv(environmentOf("torchrun"))).not.toHaveProperty("launch");
});

test.each([
  ["slurm-first", { SLURM_PROCID: "2" }, "SLURM_PROCID"],
  ["slurm-first", { SLURM_LOCALID: "1" }, "SLURM_PROCID"],
  ["jobset", { JOB_COMPLETION_INDEX: "8" }, "JOB_COMPLETION_INDEX"],
  ["jobset", { MASTER_PORT: "70000" }, "MASTER_PORT"],
] as const)("%s with %j is refused by name", (name, changes, variable) => {
  expect(() => readLauncherEnv(environmentOf(name, changes))).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE", message: expect.stringContaining(variable) }),
  );
});
