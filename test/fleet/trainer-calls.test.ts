import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import {
  decodeCall,
  decodeReply,
  encodeCall,
  encodeReply,
  failed,
  TRAINER_CALLS,
  type TrainerCall,
  traitsOf,
} from "../../lib/fleet/trainer-calls.ts";

test("a call is read as it was made: arrays, big integers, and numbers that JSON lacks", () => {
  const batch = {
    tokens: Int32Array.of(1, 2),
    mask: Uint8Array.of(0, 1),
    advantages: Float32Array.of(0.5, Number.NaN),
  };
  const args = [
    batch,
    { lr: 1e-3, seed: 2n ** 62n, low: Number.NEGATIVE_INFINITY, zero: -0, list: ["a", null, true] },
  ];
  const read = decodeCall(encodeCall({ number: 3, trainer: "trainer-0", name: "step", args }));
  expect(read).toEqual({ number: 3, trainer: "trainer-0", name: "step", args });
});

test("fields that are undefined are left out, and a result may be none", () => {
  const read = decodeCall(
    encodeCall({ number: 0, trainer: "t", name: "open", args: [{ a: undefined, b: 1 }] }),
  );
  expect(read.args).toEqual([{ b: 1 }]);
  expect(decodeReply(encodeReply({ number: 0, rank: 1, version: 2, result: undefined }))).toEqual({
    number: 0,
    rank: 1,
    version: 2,
  });
});

test("a report whose loss is not finite comes back as it is", () => {
  const result = {
    loss: Number.NaN,
    skipped: true,
    logprobs: Float32Array.of(-1.5),
    layerGradNorms: Float64Array.of(1),
  };
  expect(decodeReply(encodeReply({ number: 1, rank: 0, version: 4, result })).result).toEqual(result);
});

test("a function is refused with what to do", () => {
  expect(() => encodeCall({ number: 0, trainer: "t", name: "step", args: [{ slopes: () => {} }] })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_UNSUPPORTED", hint: expect.stringContaining("trainers: 0") }),
  );
});

test("an error keeps its code", () => {
  expect(failed(new HoneError("HONE_ERR_IO", "full", { hint: "free some" }))).toEqual({
    fault: { code: "HONE_ERR_IO", message: "full", hint: "free some" },
  });
});

test("another kind of message is no call", () => {
  expect(() => decodeCall(encodeReply({ number: 1, rank: 0, version: 4 }))).toThrow(
    /kind "reply" where "call"/,
  );
});

test("what makes a trainer and is in no checkpoint is called again on one that goes on from a checkpoint", () => {
  const names = Object.keys(TRAINER_CALLS) as TrainerCall[];
  const made = names.filter((name) => traitsOf(name).base);
  expect(made).toEqual(["initialize", "loadHf", "loadAdapters", "resetOptimizer", "setTeacherHead"]);
});
