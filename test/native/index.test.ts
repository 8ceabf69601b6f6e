import { expect, test } from "vitest";
import { info, memorySizes } from "../../lib/native/index.ts";
import { engineOptions, modelConfig, trainerOptions } from "./small-model.ts";

test("info says what was built and what was found, or why not", () => {
  const found = info();
  expect(found.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(["avx512bf16", "avx512", "avx2", "baseline"]).toContain(found.isa);
  expect(found.threads).toBeGreaterThanOrEqual(1);
  expect(found.cuda.devices.length > 0 || found.cuda.reason !== null).toBe(true);
  expect((found.nccl.version === null) !== (found.nccl.reason === null)).toBe(true);
});

test("memory of a trainer that shares: less of what is divided, the same of the rest", () => {
  const config = JSON.stringify({ ...JSON.parse(modelConfig), num_hidden_layers: 12, hidden_size: 64 });
  const sizes = (stage: "optimizer" | "gradients" | "parameters", ranks?: number) =>
    memorySizes(
      config,
      { engine: engineOptions, trainer: { ...trainerOptions, sharding: { stage } } },
      { sequences: 4, threads: 1, ...(ranks && { ranks }) },
    );
  const [one, four, layered] = [sizes("optimizer"), sizes("optimizer", 4), sizes("gradients", 4)];
  expect(four.moments).toBeLessThan(one.moments / 3);
  expect(layered.moments).toBe(four.moments);
  expect(layered.trained).toBeLessThan(four.trained / 2);
  for (const name of ["parameters", "snapshot", "activations", "logits"] as const) {
    expect(layered[name]).toBe(one[name]);
  }
  const sparse = sizes("parameters", 4);
  for (const name of ["moments", "trained", "activations", "logits"] as const) {
    expect(sparse[name]).toBe(layered[name]);
  }
  for (const name of ["parameters", "snapshot"] as const) {
    expect(sparse[name]).toBeLessThan(one[name]);
  }
  expect(() => sizes("optimizer", -1)).toThrow(/ranks/);
});
