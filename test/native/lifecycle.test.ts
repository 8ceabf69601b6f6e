// Opens and closes engines and trainers while they work. Runs clean under AddressSanitizer as well: cmake -S . -B
// /some/dir/build/asan -DHONE_SANITIZE=address -DHONE_CUDA=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo cmake --build
// /some/dir/build/asan --target hone
// mkdir -p /some/dir/build/Release && cp /some/dir/build/asan/hone.node /some/dir/build/Release/
// HONE_RL_PREBUILD=/some/dir LD_PRELOAD=$(g++ -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \ npx vitest run
// test/native
// (detect_leaks=0: Node itself does not free everything at exit.)
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import type { EngineHandlers } from "../../lib/native/face.ts";
import { Communicator, Engine, Generations, info, Trainer } from "../../lib/native/index.ts";
import { engineOptions, modelConfig, request, trainerAndGenerations, trainerOptions } from "./small-model.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Plain JavaScript for children and workers that loads the addon; `busy` starts an engine's generation. */
const PREAMBLE = `
  const native = require("node-gyp-build")(${JSON.stringify(ROOT)});
  const config = ${JSON.stringify(modelConfig)};
  const trainerOptions = ${JSON.stringify(trainerOptions)};
  const engineOptions = { ...${JSON.stringify({ ...engineOptions, runSeed: 0 })}, runSeed: 7n };
  const batch = {
    tokens: new Int32Array(4000).fill(3), mask: new Uint8Array(4000).fill(1, 1),
    cuSeqlens: Int32Array.of(0, 4000), advantages: Float32Array.of(1), behaviorLogprobs: new Float32Array(4000).fill(-4),
  };
  batch.tokens = batch.tokens.subarray(0, 400); batch.mask = batch.mask.subarray(0, 400);
  batch.cuSeqlens = Int32Array.of(0, 400); batch.behaviorLogprobs = batch.behaviorLogprobs.subarray(0, 400);
  const stepOptions = { objective: "gspo", sequenceWeight: "uniform", clipLow: 3e-3, clipHigh: 4e-3, klCoef: 0,
    entropyCoef: 0, temperature: 1, lr: 1e-3, muonLr: 0 };
  async function busy(onMessage) {
    const trainer = new native.NativeTrainer(config, trainerOptions);
    await trainer.initialize(1n);
    const engine = new native.NativeEngine(config, engineOptions, onMessage, () => {});
    await trainer.publish(engine);
    for (let id = 0; id < 40; id++) {
      engine.submit({ id, prompt: Int32Array.of(1, 2, 3), count: 4, problem: id, firstAttempt: 0,
        sampling: { temperature: 1 }, maxTokens: 450, stopIds: [] });
    }
    for (let i = 0; i < 20; i++) trainer.step(batch, stepOptions).catch(() => {});
    return { trainer, engine };
  }
`;

function child(script: string) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=commonjs", "-e", `${PREAMBLE}(async () => {${script}})();`],
    { cwd: ROOT, encoding: "utf8", timeout: 60_000 },
  );
  return { status, signal, stdout, stderr };
}
/** A group's time-out, longer than any test. */
const LONG_MS = 600_000;
const CLEAN = { status: 0, signal: null, stderr: "" };

test("a hundred engines and trainers come and go", async () => {
  for (let i = 0; i < 100; i++) {
    const { trainer, generations } = await trainerAndGenerations({ pages: 32, maxContext: 64 });
    if (i % 3 === 0) await generations.generate(request(1, { maxTokens: 3 }));
    if (i % 3 === 1) generations.submit(request(1), { deliver() {}, fail() {} }); // closes the engine while it generates
    await Promise.all([generations.close(), trainer.close()]);
  }
});

test("what is closed gives its threads and memory back", async () => {
  const memory = () => {
    (globalThis as { gc?: () => void }).gc?.();
    return process.memoryUsage().rss;
  };
  const cycle = async () => {
    const trainer = new Trainer(modelConfig, trainerOptions);
    await trainer.initialize(1n);
    await trainer.close();
  };
  for (let i = 0; i < 20; i++) await cycle();
  const before = memory();
  for (let i = 0; i < 100; i++) await cycle();
  // Each trainer has about 1 MB of weights, moments and packing buffers: leaking all would take 100 MB.
  expect(memory() - before).toBeLessThan(50e6);
});

test("objects nobody closed are collected, threads and all", async () => {
  const gc = (globalThis as { gc?: () => void }).gc;
  if (!gc) throw new Error("run with --expose-gc (vitest.config.ts does)");
  let collected = 0;
  const registry = new FinalizationRegistry(() => {
    collected += 1;
  });
  // Generations and its engine's handlers reference each other: a cycle through the addon.
  const open = (handlers: EngineHandlers) =>
    new Engine(modelConfig, { ...engineOptions, pages: 32 }, handlers);
  // A function makes them, because a suspended async function keeps its last temporary alive.
  const make = () => registry.register(new Generations(open), 0);
  for (let i = 0; i < 10; i++) make();
  while (collected < 10) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(registry).toBeDefined(); // keeps the registry alive until here
});

test("an engine in flight is not collected before its work is done", async () => {
  const gc = (globalThis as { gc?: () => void }).gc;
  const { trainer, generations } = await trainerAndGenerations();
  const done = Promise.all(
    Array.from({ length: 10 }, (_, i) => generations.generate(request(i, { maxTokens: 200 }))),
  );
  const timer = setInterval(() => gc?.(), 5);
  expect(await done).toHaveLength(10);
  clearInterval(timer);
  await generations.close();
  await trainer.close();
});

describe("a process", () => {
  test("ends by itself when nothing is in flight, though nothing was closed", () => {
    const result = child(`
      const trainer = new native.NativeTrainer(config, trainerOptions);
      await trainer.initialize(1n);
      const engine = new native.NativeEngine(config, engineOptions, () => {}, () => {});
      await trainer.publish(engine);
      console.log("ready");
    `);
    expect(result).toEqual({ ...CLEAN, stdout: "ready\n" });
  });

  test("stays while attempts are in flight", () => {
    const result = child(`
      let tokens = 0;
      await busy((message) => { tokens += message.token.length; if (tokens === 40 * 4 * 450) console.log("all"); });
    `);
    expect(result).toEqual({ ...CLEAN, stdout: "all\n" });
  });

  test("may exit in mid-step", () => {
    expect(child(`await busy(() => process.exit(0));`)).toEqual({ ...CLEAN, stdout: "" });
    expect(child(`await busy(() => {}); process.exit(0);`)).toEqual({ ...CLEAN, stdout: "" });
  });

  test("may die of an exception in mid-step", () => {
    const result = child(`await busy(() => {}); throw new Error("on purpose");`);
    expect(result).toMatchObject({ status: 1, signal: null, stderr: expect.stringContaining("on purpose") });
  });

  test("hears of an exception thrown by its message handler", () => {
    const result = child(`
      process.once("uncaughtException", (error) => { console.log("caught", error.message); process.exit(0); });
      await busy(() => { throw new Error("in handler"); });
    `);
    expect(result).toEqual({ ...CLEAN, stdout: "caught in handler\n" });
  });

  test("may close everything under load, in any order", () => {
    const result = child(`
      for (let i = 0; i < 10; i++) {
        const { trainer, engine } = await busy(() => {});
        const closing = i % 2 ? [engine.close(), trainer.close()] : [trainer.close(), engine.close()];
        if (i % 3) await Promise.all(closing);
      }
      console.log("closed");
    `);
    expect(result).toEqual({ ...CLEAN, stdout: "closed\n" });
  });
});

test("workers are terminated in mid-step", async () => {
  for (let round = 0; round < 6; round++) {
    const script = `
      const { parentPort } = require("node:worker_threads");
      const require_ = require("node:module").createRequire(${JSON.stringify(`${ROOT}package.json`)});
      (function (require) { ${PREAMBLE}
        busy(() => parentPort.postMessage("token")).then(() => parentPort.postMessage("busy"));
      })(require_);
    `;
    const workers = [new Worker(script, { eval: true }), new Worker(script, { eval: true })];
    await Promise.all(workers.map((w) => new Promise((resolve) => w.once("message", resolve))));
    await Promise.all(workers.map((w) => w.terminate()));
  }
});

test("a worker that is terminated while it writes a model folder calls it off", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-exit-"));
  mkdirSync(join(dir, "from"));
  const bytes = 1 << 29; // a sparse file that takes more than a second to write
  const header = `{"a":{"dtype":"U8","shape":[${bytes}],"data_offsets":[0,${bytes}]}}`.padEnd(96);
  const file = join(dir, "from/model.safetensors");
  writeFileSync(file, Buffer.concat([Buffer.from(BigUint64Array.of(96n).buffer), Buffer.from(header)]));
  truncateSync(file, 104 + bytes);
  const options = { source: join(dir, "from"), target: join(dir, "to"), extras: [] };
  const script = `
    const { NativeModelWriter } = require("node:module").createRequire(${JSON.stringify(`${ROOT}package.json`)})(
      "node-gyp-build")(${JSON.stringify(ROOT)});
    const { parentPort } = require("node:worker_threads");
    new NativeModelWriter(${JSON.stringify(options)}).run(() => parentPort.postMessage("writes")).catch(() => {});
  `;
  const worker = new Worker(script, { eval: true });
  await new Promise((resolve) => worker.once("message", resolve));
  await worker.terminate();
  const left = readdirSync(dir);
  rmSync(dir, { recursive: true });
  expect(left).toEqual(["from"]);
});

/** Scripts that block a thread on a rank which never makes the matching call. */
const WAITING = {
  "a step among ranks": `
    const sharding = { stage: "gradients", communicator: group };
    const trainer = new native.NativeTrainer(config, { ...trainerOptions, sharding });
    await trainer.initialize(1n);
    trainer.step(batch, stepOptions).catch(() => {});`,
  "weights that are sent": `
    const trainer = new native.NativeTrainer(config, trainerOptions);
    await trainer.initialize(1n);
    trainer.sendWeights(group).catch(() => {});`,
  "weights that are received": `
    new native.NativeWeightReceiver(config, { weightStorage: "f32" }).receive(group).catch(() => {});`,
};

test.skipIf(info().gloo.version === null).each(Object.keys(WAITING) as (keyof typeof WAITING)[])(
  "a worker that is terminated amid %s does not wait for a silent rank",
  async (what) => {
    const rank = what === "weights that are received" ? 1 : 0;
    const silent = new Communicator({ rank: 1 - rank, size: 2, timeoutMs: LONG_MS });
    const script = `
      const { parentPort } = require("node:worker_threads");
      const require_ = require("node:module").createRequire(${JSON.stringify(`${ROOT}package.json`)});
      (function (require) { ${PREAMBLE}
        const group = new native.NativeCommunicator({ rank: ${rank}, size: 2, timeoutMs: ${LONG_MS} });
        parentPort.once("message", async (blobs) => {
          await group.connect(blobs);
          ${WAITING[what]}
          setTimeout(() => parentPort.postMessage("waits"), 300); // by then it is the other thread's
        });
        parentPort.postMessage(group.prepare());
      })(require_);
    `;
    const worker = new Worker(script, { eval: true });
    const hear = () => new Promise<unknown>((resolve) => worker.once("message", resolve));
    const prepared = (await hear()) as readonly Uint8Array[];
    const given = [silent.prepare()[rank]!, prepared[1 - rank]!];
    const waits = hear();
    worker.postMessage([given[0], given[0]]);
    await silent.connect([given[1]!, given[1]!]); // a rank ignores the address at its own index
    expect(await waits).toBe("waits");
    await worker.terminate();
    silent.abort("it is over");
    await silent.close().catch(() => {});
  },
);
