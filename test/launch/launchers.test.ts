// Processes of Slurm 22.05.8 and Open MPI 4.1.4 printed slurm-* and openmpi-*, on two nodes unless the name says
// another number. torchrun and jobset follow their documentation.
import { expect, test } from "vitest";
import { kubernetes, openMpi, slurm, torchrun } from "../../lib/launch/launchers.ts";
import { environmentOf } from "./environment-files.ts";

const second = { rank: 1, worldSize: 2, localRank: 0, localSize: 1, nodeRank: 1, nodes: 2 };

test("Slurm: the restart count is not set at first, and counts requeues", () => {
  const first = environmentOf("slurm-first");
  expect(first).not.toHaveProperty("SLURM_RESTART_COUNT");
  expect(slurm(first)).toEqual({ ...second, restarts: 0 });
  expect(slurm(environmentOf("slurm-requeued"))).toEqual({ ...second, restarts: 1 });
});

test("Slurm: nodes with different numbers of tasks", () => {
  const changes = {
    SLURM_STEP_NUM_TASKS: "8",
    SLURM_STEP_NUM_NODES: "4",
    SLURM_STEP_TASKS_PER_NODE: "2(x3),1",
    SLURM_NODEID: "3",
    SLURM_PROCID: "6",
  };
  expect(slurm(environmentOf("slurm-first", changes))).toMatchObject({ localSize: 1, nodeRank: 3, nodes: 4 });
  const before = slurm(environmentOf("slurm-first", { ...changes, SLURM_NODEID: "2", SLURM_LOCALID: "1" }));
  expect(before).toMatchObject({ localSize: 2, localRank: 1 });
});

test("Slurm: a step that is smaller than its job counts", () => {
  const step = { SLURM_NTASKS: "16", SLURM_NNODES: "4", SLURM_TASKS_PER_NODE: "4(x4)" };
  expect(slurm(environmentOf("slurm-first", step))).toEqual({ ...second, restarts: 0 });
});

test("Open MPI: two processes of one node are of one node, whatever OMPI_COMM_WORLD_NODE_RANK says", () => {
  const environment = environmentOf("openmpi-one-node");
  expect(environment["OMPI_COMM_WORLD_NODE_RANK"]).toBe("1");
  expect(openMpi(environment)).toEqual({
    rank: 1,
    worldSize: 2,
    localRank: 1,
    localSize: 2,
    nodeRank: 0,
    nodes: 1,
    restarts: 0,
  });
});

test("Open MPI: one process a node", () => {
  expect(openMpi(environmentOf("openmpi-two-nodes", { HONE_RESTARTS: "2" }))).toEqual({
    ...second,
    restarts: 2,
  });
});

test("torchrun: nodes by group, or by NODE_RANK, or as the ranks follow each other", () => {
  const expected = { rank: 6, worldSize: 8, localRank: 2, localSize: 4, nodeRank: 1, nodes: 2, restarts: 1 };
  const { GROUP_RANK: _, ...others } = environmentOf("torchrun");
  expect(torchrun(environmentOf("torchrun"))).toEqual(expected);
  expect(torchrun({ ...others, NODE_RANK: "1" })).toEqual(expected);
  expect(torchrun(others)).toEqual(expected);
});

test("a JobSet's pod", () => {
  expect(kubernetes(environmentOf("jobset"))).toEqual({
    rank: 3,
    worldSize: 8,
    localRank: 0,
    localSize: 1,
    nodeRank: 3,
    nodes: 8,
    restarts: 2,
  });
});

test.each([
  [slurm, "slurm-batch-script", {}, "SLURM_STEP_ID is not set: this is the batch script"],
  [slurm, "slurm-first", { SLURM_NODEID: "" }, "SLURM_NODEID is not set"],
  [slurm, "slurm-first", { SLURM_NODEID: "2" }, "SLURM_NODEID=2"],
  [slurm, "slurm-first", { SLURM_STEP_TASKS_PER_NODE: "two" }, "SLURM_STEP_TASKS_PER_NODE=two"],
  [slurm, "slurm-first", { SLURM_STEP_NUM_NODES: "3" }, "there are 3 nodes"],
  [slurm, "slurm-first", { SLURM_PROCID: "-1" }, 'SLURM_PROCID is "-1"; it must be an integer of at least 0'],
  [openMpi, "openmpi-round-robin", {}, "OMPI_COMM_WORLD_LOCAL_RANK=0"],
  [openMpi, "openmpi-two-nodes", { OMPI_COMM_WORLD_SIZE: "" }, "OMPI_COMM_WORLD_SIZE is not set"],
  [openMpi, "openmpi-one-node", { OMPI_COMM_WORLD_SIZE: "3" }, "OMPI_COMM_WORLD_SIZE=3"],
  [torchrun, "torchrun", { LOCAL_RANK: "1" }, "these make rank 5"],
  [torchrun, "torchrun", { WORLD_SIZE: "7" }, "WORLD_SIZE=7"],
  [torchrun, "torchrun", { LOCAL_WORLD_SIZE: "" }, "LOCAL_WORLD_SIZE is not set"],
  [kubernetes, "jobset", { HONE_NODES: "" }, "HONE_NODES is not set"],
  [kubernetes, "jobset", { HONE_NODES: "0" }, 'HONE_NODES is "0"; it must be an integer of at least 1'],
] as const)("%o of %s with %j is refused: %s", (read, name, changes, message) => {
  expect(() => read(environmentOf(name, changes))).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE", message: expect.stringContaining(message) }),
  );
});
