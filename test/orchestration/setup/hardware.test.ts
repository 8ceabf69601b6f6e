import { expect, test } from "vitest";
import { createRun } from "../../../lib/orchestration/index.ts";
import { expectRunnable } from "../../../lib/orchestration/setup/hardware.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

const hardware = { gpu: "H100", gpuMemoryGiB: 80, gpus: 1, recompute: false };
const info = (devices: readonly string[], reason: string | null = null) => ({
  ...standInCore().info(),
  cuda: { compiled: "13.0", driver: "13.0", devices, memoryBytes: null, reason },
});

test("a recipe without hardware runs anywhere, one for one GPU where there is one", () => {
  expect(expectRunnable({ name: "r", device: "cpu" }, info([], "none"))).toBeUndefined();
  expect(expectRunnable({ name: "r", device: "cuda", hardware }, info(["NVIDIA H100"]))).toBeUndefined();
  expect(expectRunnable({ name: "r", device: "cuda" }, info(["NVIDIA H100"]))).toBeUndefined();
});

test("several GPUs are several processes', one each, as many as the machine has", () => {
  const asked = (more: object, found = 4) =>
    expectRunnable(
      { name: "r", device: "cuda", hardware: { ...hardware, ...more } },
      info(Array.from({ length: found }, () => "NVIDIA H100")),
    );
  expect(() => asked({ gpus: 64 })).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_UNSUPPORTED",
      message:
        "r cannot be run: hardware.gpus is 64, and nothing says how many of them sample and how many train",
    }),
  );
  expect(asked({ gpus: 4, actorGpus: 3 })).toBeUndefined();
  expect(asked({ processes: { actors: 2, trainers: 2, verifiers: 8 } })).toBeUndefined();
  expect(() => asked({ gpus: 5, actorGpus: 3 })).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_UNSUPPORTED",
      message: "r cannot be run here: 5 processes sample and train, with a GPU each, and this machine has 4",
    }),
  );
  // The run's own process trains.
  expect(asked({ processes: { actors: 1, trainers: 0 } }, 2)).toBeUndefined();
  expect(() => asked({ processes: { actors: 1, trainers: 0 } }, 1)).toThrow("2 processes sample and train");
});

test("several machines are none of one run's, and agents' processes have a GPU each", () => {
  const nodes = { name: "r", device: "cpu", hardware: { ...hardware, nodes: 8 } } as const;
  expect(() => expectRunnable(nodes, info([]))).toThrow("hardware.nodes is 8, and this is one machine");
  expect(expectRunnable(nodes, info([]), true)).toBeUndefined();
  const gpus = { ...hardware, nodes: 2, gpus: 5, actorGpus: 3 };
  expect(expectRunnable({ name: "r", device: "cuda", hardware: gpus }, info(["x"]), true)).toBeUndefined();
});

test("trainers on GPUs divide what trainers on the CPU do, micro-batches too", () => {
  const asked = (sharding: object, device = "cuda") =>
    expectRunnable(
      { name: "r", device, hardware: { ...hardware, sharding: { exact: true, ...sharding } } } as Parameters<
        typeof expectRunnable
      >[0],
      info(["x"]),
    );
  for (const device of ["cuda", "cpu"])
    for (const stage of ["optimizer", "gradients", "parameters"])
      for (const sequence of [1, 4]) expect(asked({ stage, sequence }, device)).toBeUndefined();
});

test("activations may be computed again", () => {
  const recomputed = { ...hardware, recompute: true };
  expect(expectRunnable({ name: "r", device: "cuda", hardware: recomputed }, info(["x"]))).toBeUndefined();
});

test("where there is no GPU the reason is the driver's", () => {
  const fails = (recipe: Parameters<typeof expectRunnable>[0], message: string) =>
    expect(() => expectRunnable(recipe, info([], "no NVIDIA driver"))).toThrow(
      expect.objectContaining({ code: "HONE_ERR_CUDA", message }),
    );
  fails({ name: "r", device: "cuda", hardware }, "r is meant for H100: no NVIDIA driver");
  fails({ name: "r", device: "cuda" }, "r is meant for a GPU: no NVIDIA driver");
});

test("what is meant for a GPU runs on the CPU when told to", () => {
  expect(expectRunnable({ name: "r", device: "cpu", hardware }, info([], "none"))).toBeUndefined();
});

test("a run asks before it opens anything", async () => {
  const recipe = { ...smallRecipe(), hardware: { ...hardware, gpus: 2 } };
  const core = standInCore();
  await expect(createRun(recipe, { dir: "/nowhere", core })).rejects.toMatchObject({
    code: "HONE_ERR_UNSUPPORTED",
  });
  expect(core.trainers).toEqual([]);
});
