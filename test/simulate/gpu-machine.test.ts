import { expect, test } from "vitest";
import { ASSUMED } from "../../lib/simulate/assumptions.ts";
import { gpuMachine } from "../../lib/simulate/gpu-machine.ts";
import { machineSchema } from "../../lib/simulate/machine.ts";
import { recipeOf } from "./machines.ts";

const sizes = { parameters: 14.4e9, attentionLayers: 48, kvHeads: 8, headDim: 128, qWidth: 4096 };
const hardware = { gpu: "H100 80GB", gpuMemoryGiB: 80, gpus: 64, actorGpus: 32 };

test("a step of generation reads all weights once, and each context its keys and values", () => {
  const machine = gpuMachine(recipeOf({}, { hardware }), sizes);
  expect([machine.gpus, machine.actors, machine.trainers]).toEqual([64, 32, 32]);
  const read = 3.35e12 * ASSUMED.bandwidthShare;
  expect(machine.actor.decode.fixed).toBeCloseTo(28.8e9 / read + ASSUMED.stepOverhead, 9);
  expect(machine.actor.decode.perContextToken * read).toBeCloseTo(196_608, 3);
  // six operations per weight and token, over all trainers
  expect(machine.trainer.perToken * 32 * 989e12 * ASSUMED.trainShare).toBeCloseTo(6 * 14.4e9, 0);
  expect(machineSchema.safeParse(machine).success).toBe(true);
});

test("an update is the packed weights, from one card of a node to the others and through their hosts", () => {
  const { actor, trainer } = gpuMachine(recipeOf({}, { hardware }), sizes);
  const bytes = 28.8e9;
  const toHost = bytes / ASSUMED.hostBandwidth;
  expect(trainer.update).toEqual({ bytes, seconds: bytes / ASSUMED.nodeBandwidth + toHost });
  expect(actor.updatePause).toBe(toHost);
  const two = gpuMachine(recipeOf({}, { hardware: { ...hardware, gpus: 16, actorGpus: 15 } }), sizes);
  expect(two.trainer.update!.seconds).toBeCloseTo(bytes / ASSUMED.networkBandwidth + toHost, 9);
  const beside = gpuMachine(recipeOf({}, { hardware: { gpu: "H100", gpus: 4 } }), sizes);
  expect(beside.trainer.update).toBeUndefined();
  expect(beside.actor.updatePause).toBeCloseTo((2 * bytes) / 3.35e12, 9);
});

test("without actorGpus every GPU does both, and an unknown card is refused", () => {
  const both = gpuMachine(recipeOf({}, { hardware: { gpu: "H200", gpus: 4 } }), sizes);
  expect([both.actors, both.trainers]).toEqual([4, 4]);
  expect(() => gpuMachine(recipeOf({}, { hardware: { gpu: "Z9", gpus: 4 } }), sizes)).toThrow(
    /H200, H100, A100/,
  );
  expect(() => gpuMachine(recipeOf(), sizes)).toThrow(/names no gpu/);
});

test("engines, trainers and verifiers are those of the recipe's processes: workers of each host, or one pool", () => {
  const verification = { workers: 6 };
  const machine = (processes?: { actors: number; trainers: number; verifiers?: number }) =>
    gpuMachine(
      recipeOf({}, { verification, hardware: { gpu: "H100", gpus: 4, ...(processes && { processes }) } }),
      sizes,
    );
  const of = (processes?: Parameters<typeof machine>[0]) => {
    const { gpus, actors, trainers, verifierWorkers } = machine(processes);
    return [gpus, actors, trainers, verifierWorkers];
  };
  expect(of({ actors: 3, trainers: 1, verifiers: 2 })).toEqual([4, 3, 1, 12]);
  expect(of({ actors: 3, trainers: 1 })).toEqual([4, 3, 1, 6]);
  expect(of({ actors: 3, trainers: 0 })).toEqual([4, 3, 1, 6]);
  expect(of()).toEqual([4, 4, 4, 6]);
});
