// Checks that the hand-written lib/native/binding.ts matches the addon. A name or an argument that only one of them has
// fails the test that names it.
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { binding } from "../../lib/native/load.ts";
import { engineOptions, modelConfig, trainerOptions } from "./small-model.ts";
import { folderWith, smallTokenizer } from "./small-tokenizer.ts";

/** Every property that instances of a class have, without the constructor. */
function members(native: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(native.prototype)
    .filter((name) => name !== "constructor")
    .sort();
}

test("the addon exports what binding.ts says", () => {
  expect(Object.keys(binding()).sort()).toEqual([
    "NativeCommunicator",
    "NativeDecodeStream",
    "NativeEngine",
    "NativeModelWriter",
    "NativeTokenizer",
    "NativeTrainer",
    "NativeWeightReceiver",
    "describeModel",
    "info",
    "interfaceStamp",
    "memorySizes",
  ]);
  expect(members(binding().NativeTokenizer)).toEqual([
    "decode",
    "encode",
    "idOf",
    "nameOf",
    "tokenBytes",
    "vocabularySize",
  ]);
  expect(members(binding().NativeModelWriter)).toEqual(["cancel", "run"]);
  expect(members(binding().NativeDecodeStream)).toEqual(["finish", "step"]);
  expect(members(binding().NativeEngine)).toEqual(["abort", "close", "stats", "submit"]);
  expect(members(binding().NativeWeightReceiver)).toEqual(["close", "commit", "receive", "send"]);
  expect(members(binding().NativeCommunicator)).toEqual([
    "abort",
    "allGather",
    "allReduce",
    "allToAll",
    "barrier",
    "broadcast",
    "close",
    "connect",
    "prepare",
    "rank",
    "reduceScatter",
    "size",
  ]);
  expect(members(binding().NativeTrainer)).toEqual([
    "close",
    "gatherWeights",
    "gradientParts",
    "initialize",
    "load",
    "loadAdapters",
    "loadHf",
    "parameter",
    "publish",
    "resetOptimizer",
    "save",
    "saveModel",
    "score",
    "sendWeights",
    "setTeacherHead",
    "setVersion",
    "stage",
    "step",
    "teach",
    "teacherHead",
    "version",
    "written",
  ]);
});

test("a missing argument of any call is a typed error, not a crash", async () => {
  const { NativeEngine, NativeTrainer } = binding();
  const codeOf = (call: () => unknown) => {
    try {
      const result = call();
      return Promise.resolve(result).then(
        () => "resolved",
        (error: { code?: string }) => error.code,
      );
    } catch (error) {
      return Promise.resolve((error as { code?: string }).code);
    }
  };
  /** Callable without the arguments that its type demands. */
  type Loose = (new (...args: unknown[]) => unknown) & Record<string, (...args: unknown[]) => unknown>;
  const loose = (value: unknown) => value as Loose;
  const NONE = () => {};
  expect(await codeOf(() => (binding().describeModel as () => unknown)())).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeEngine))())).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeEngine))(modelConfig, engineOptions))).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeTrainer))())).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeTrainer))(modelConfig))).toBe("HONE_ERR_CONFIG");

  const engine = new NativeEngine(modelConfig, engineOptions, NONE, NONE);
  const trainer = new NativeTrainer(modelConfig, trainerOptions);
  expect(await codeOf(() => loose(engine)["submit"]!())).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => loose(engine)["abort"]!())).toBe("HONE_ERR_CONFIG");
  for (const method of [
    "initialize",
    "loadHf",
    "publish",
    "resetOptimizer",
    "save",
    "load",
    "parameter",
    "sendWeights",
  ]) {
    expect([method, await codeOf(() => loose(trainer)[method]!())]).toEqual([method, "HONE_ERR_CONFIG"]);
  }
  for (const method of ["setVersion", "step", "gradientParts", "score", "teach", "setTeacherHead"]) {
    expect([method, await codeOf(() => loose(trainer)[method]!())]).toEqual([method, "HONE_ERR_CONFIG"]);
  }
  await engine.close();
  await trainer.close();

  const { NativeTokenizer, NativeDecodeStream } = binding();
  const folder = folderWith({ "tokenizer.json": smallTokenizer() });
  const tokenizer = new NativeTokenizer(`${folder}/tokenizer.json`);
  rmSync(folder, { recursive: true });
  expect(await codeOf(() => new (loose(NativeTokenizer))())).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeDecodeStream))())).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeDecodeStream))({}, true))).toBe("HONE_ERR_CONFIG");
  expect(await codeOf(() => new (loose(NativeDecodeStream))(tokenizer))).toBe("HONE_ERR_CONFIG");
  const missing = {
    encode: "HONE_ERR_CONFIG",
    decode: "HONE_ERR_SHAPE",
    idOf: "HONE_ERR_CONFIG",
    nameOf: "HONE_ERR_DATA",
  };
  for (const [method, code] of Object.entries(missing)) {
    expect([method, await codeOf(() => loose(tokenizer)[method]?.())]).toEqual([method, code]);
  }
});

test("publishing to something that is no engine is refused", async () => {
  const { NativeTrainer } = binding();
  const trainer = new NativeTrainer(modelConfig, trainerOptions);
  expect(() => trainer.publish({} as never)).toThrow(/not a NativeEngine/);
  expect(() => trainer.publish(trainer as never)).toThrow(/not a NativeEngine/);
  await trainer.close();
});
