import { expect, test } from "vitest";
import { placeProcesses, readLauncherEnv, simulatedNodes } from "../../lib/launch/index.ts";
import { environmentOf } from "./environment-files.ts";

test.each([
  ["Slurm", 2, 1, "slurm-first"],
  ["Kubernetes", 8, 3, "jobset"],
  ["mpirun", 2, 1, "openmpi-two-nodes"],
] as const)(
  "%s tells node %i of its nodes what the captured process was told",
  (launcher, nodes, node, file) => {
    const { MASTER_ADDR: _, ...told } = simulatedNodes(nodes)[launcher]![node]!;
    expect(Object.keys(told).length).toBeGreaterThan(1);
    expect(environmentOf(file)).toMatchObject(told);
  },
);

test("64 ranks on 8 nodes: whichever launcher, every agent finds the same whole, and every place has one", () => {
  for (const [launcher, environments] of Object.entries(simulatedNodes(8))) {
    const placements = environments.flatMap((environment) => {
      const { nodes, nodeRank, localSize } = readLauncherEnv(environment);
      expect([nodes, localSize]).toEqual([8, 1]);
      return placeProcesses({ actors: 32, trainers: 32 }, nodes)[nodeRank]!.map(({ role, rank, slot }) => ({
        place: `${role}.${rank}`,
        device: `${nodeRank}/${slot}`,
      }));
    });
    expect([launcher, placements.length]).toEqual([launcher, 64]);
    expect(new Set(placements.map(({ place }) => place)).size).toBe(64);
    expect(new Set(placements.map(({ device }) => device)).size).toBe(64);
  }
});
