// Sends weights from a trainer to engines in other processes: they get the same bits and samples as within one process,
// and report a process that dies. test/csrc/trainer/weight_transfer.test.cc also tests what a receiver refuses.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TrainingBatch, WeightTypes } from "../../lib/native/face.ts";
import {
  type Communicator,
  Engine,
  Generations,
  info,
  Trainer,
  WeightReceiver,
} from "../../lib/native/index.ts";
import { patient } from "../patience.ts";
import { communicatorPair, rankProcesses, resultsOf } from "./processes.ts";
import { engineOptions, modelConfig, request, stepOptions, trainerOptions } from "./small-model.ts";

const withGloo = describe.skipIf(info().gloo.version === null);
const SMALL = { bucketBytes: 512 };
/** The errors with which a receiver reports a sender that died. */
const LOST = { lost: "HONE_ERR_COLLECTIVE", commit: "HONE_ERR_STATE" };

/** Source for a rank's script: a trainer, an engine with a receiver, and the engine's samples. */
const PARTS = `
  const config = ${JSON.stringify(modelConfig)};
  const makeTrainer = async (change) => {
    const trainer = new native.NativeTrainer(config, { ...${JSON.stringify(trainerOptions)}, ...change });
    await trainer.initialize(3n);
    return trainer;
  };
  const makeEngine = (change) => {
    let hear;
    const heard = [];
    const engine = new native.NativeEngine(
      config, { ...${JSON.stringify({ ...engineOptions, runSeed: 0 })}, runSeed: 7n, device: "cpu", ...change },
      (message) => { heard.push(message); hear?.(); }, (error) => { throw error; });
    const receiver = new native.NativeWeightReceiver(config, { weightStorage: "f32", ...change });
    const sample = async (id) => {
      engine.submit({ id, prompt: Int32Array.of(1, 2, 3), count: 1, problem: id, firstAttempt: 0,
        sampling: { temperature: 1 }, maxTokens: 20, stopIds: [] });
      while (!heard.some((m) => m.finish.some((f) => f > 0))) await new Promise((resolve) => { hear = resolve; });
      const all = heard.splice(0);
      const joined = (field) => all.flatMap((m) => [...m[field]]);
      return { tokens: joined("token"), logprobs: joined("logprob"), versions: joined("version") };
    };
    return { engine, receiver, sample };
  };
`;

interface Samples {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly versions: readonly number[];
}

const generationsWith = (types: WeightTypes) =>
  new Generations(
    (handlers) => new Engine(modelConfig, { ...engineOptions, ...types, device: "cpu" }, handlers),
  );

async function sampled(generations: Generations, id: number): Promise<Samples> {
  const ask = { prompt: Int32Array.of(1, 2, 3), count: 1, maxTokens: 20, stopIds: [] };
  const [completion] = await generations.generate(request(id, ask));
  const { tokens, logprobs, versions } = completion!;
  return { tokens: [...tokens], logprobs: [...logprobs], versions: [...versions] };
}

/** Does the same in this process: returns what an engine samples under versions 5 and 6 of the weights. */
async function withinOneProcess(types: WeightTypes): Promise<readonly Samples[]> {
  const trainer = new Trainer(modelConfig, { ...trainerOptions, ...types });
  const generations = generationsWith(types);
  const samples: Samples[] = [];
  for (const version of [5, 6]) {
    await trainer.initialize(BigInt(version));
    await trainer.setVersion(version);
    await trainer.publish(generations.engine);
    samples.push(await sampled(generations, version));
  }
  await Promise.all([generations.close(), trainer.close()]);
  return samples;
}

/** The samples of a new engine to which `give` has given weights. */
async function samplesOf(give: (engine: Engine) => Promise<number>): Promise<Samples> {
  const generations = generationsWith({ weightStorage: "f32" });
  await give(generations.engine as Engine);
  const samples = await sampled(generations, 1);
  await generations.close();
  return samples;
}

/** Adapters with large updates, so that two versions sample differently. */
const LORA = { rank: 2, alpha: 64, targets: ["q_proj", "down_proj"] };
const ADAPTED_STEP = { ...stepOptions, objective: "supervised", lr: 0.1 } as const;

/** A sequence of eight tokens; the loss covers all but the first. */
const TEXT: TrainingBatch = {
  tokens: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
  cuSeqlens: Int32Array.of(0, 8),
  mask: Uint8Array.of(0, 1, 1, 1, 1, 1, 1, 1),
};

withGloo("between processes", () => {
  test.each<WeightTypes>([
    { weightStorage: "f32" },
    { weightStorage: "bf16" },
    { weightStorage: "bf16", arithmetic: "bf16" },
  ])("engines sample what one process samples, with %o", async (types) => {
    const results = await resultsOf(
      3,
      `${PARTS}
       const change = ${JSON.stringify(types)};
       if (rank === 0) {
         const trainer = await makeTrainer(change);
         const refused = [];
         for (const version of [5, 6]) {
           await trainer.initialize(BigInt(version));
           await trainer.setVersion(version);
           refused.push(...(await trainer.sendWeights(group, { bucketBytes: 4096 })));
           await group.barrier();
         }
         return refused;
       }
       const { engine, receiver, sample } = makeEngine(change);
       const samples = [];
       for (const version of [5, 6]) {
         await receiver.receive(group);
         await receiver.commit(engine);
         samples.push(await sample(version));
         await group.barrier();
       }
       return samples;`,
    );
    const wanted = await withinOneProcess(types);
    expect(wanted[0]!.tokens).not.toEqual(wanted[1]!.tokens);
    expect(results.map((result) => result?.value ?? result?.error)).toEqual([[], wanted, wanted]);
  });

  test.each<WeightTypes>([
    { weightStorage: "f32" },
    { weightStorage: "bf16" },
    { weightStorage: "bf16", arithmetic: "bf16" },
  ])("with adapters too, and with those that another receiver passed on, with %o", async (types) => {
    const results = await resultsOf(
      2,
      `${PARTS}
       const types = ${JSON.stringify(types)};
       const { engine, receiver, sample } = makeEngine(types);
       const samples = [];
       if (rank === 0) {
         const trainer = await makeTrainer({ ...types, lora: { ...${JSON.stringify(LORA)}, seed: 1n } });
         const batch = { tokens: Int32Array.of(${TEXT.tokens}), cuSeqlens: Int32Array.of(${TEXT.cuSeqlens}), mask: Uint8Array.of(${TEXT.mask}) };
         const pair = [0, 1].map((rank) => new native.NativeCommunicator({ rank, size: 2, timeoutMs: 60000 }));
         const blobs = pair.map((each) => each.prepare());
         await Promise.all(pair.map((each, rank) => each.connect(blobs.map((of) => of[rank]))));
         for (const version of [1, 2]) {
           await trainer.step(batch, ${JSON.stringify(ADAPTED_STEP)});
           await Promise.all([trainer.sendWeights(pair[0], { bucketBytes: 1024 }), receiver.receive(pair[1])]);
           await receiver.commit(engine);
           await receiver.send(group);
           samples.push(await sample(version));
         }
         return samples;
       }
       for (const version of [1, 2]) {
         await receiver.receive(group);
         await receiver.commit(engine);
         samples.push(await sample(version));
       }
       return samples;`,
    );
    const trainer = new Trainer(modelConfig, { ...trainerOptions, ...types, lora: { ...LORA, seed: 1n } });
    await trainer.initialize(3n);
    const generations = generationsWith(types);
    const wanted: Samples[] = [];
    for (const version of [1, 2]) {
      await trainer.step(TEXT, ADAPTED_STEP);
      await trainer.publish(generations.engine);
      wanted.push(await sampled(generations, version));
    }
    await Promise.all([generations.close(), trainer.close()]);
    expect(wanted[0]!.logprobs).not.toEqual(wanted[1]!.logprobs);
    expect(results.map((result) => result?.value ?? result?.error)).toEqual([wanted, wanted]);
  });

  test("a sender that dies on the way leaves the version before, with which sampling goes on", async () => {
    const ranks = await rankProcesses(
      3,
      `${PARTS}
       if (rank === 0) {
         const trainer = await makeTrainer({});
         await trainer.setVersion(1);
         await trainer.sendWeights(group);
         await group.barrier();
         await trainer.setVersion(2);
         while (true) await trainer.sendWeights(group, { bucketBytes: 64 });
       }
       const { engine, receiver, sample } = makeEngine({});
       await receiver.receive(group);
       await receiver.commit(engine);
       await group.barrier();
       const codeOf = (promise) => promise.then(() => "ok", (error) => error.code);
       let lost;
       while ((lost = await codeOf(receiver.receive(group))) === "ok");
       return { lost, commit: await codeOf(receiver.commit(engine)), ...(await sample(1)) };`,
      patient(600_000),
    );
    setTimeout(() => ranks[0]!.child.kill("SIGKILL"), 1500);
    for (const { result } of ranks.slice(1)) {
      const said = await result;
      expect(said).toMatchObject({ value: LOST });
      expect(new Set((said!.value as Samples).versions)).toEqual(new Set([1]));
    }
  });

  test("who sends on what it got, and dies on the way, leaves the version before, with which sampling goes on", async () => {
    const ranks = await rankProcesses(
      2,
      `${PARTS}
       const { engine, receiver, sample } = makeEngine({});
       const codeOf = (promise) => promise.then(() => "ok", (error) => error.code);
       if (rank === 0) {
         const trainer = await makeTrainer({});
         const pair = [0, 1].map((rank) => new native.NativeCommunicator({ rank, size: 2, timeoutMs: 60000 }));
         const blobs = pair.map((each) => each.prepare());
         await Promise.all(pair.map((each, rank) => each.connect(blobs.map((of) => of[rank]))));
         for (const version of [1, 2]) {
           await trainer.setVersion(version);
           await Promise.all([trainer.sendWeights(pair[0], { bucketBytes: 1024 }), receiver.receive(pair[1])]);
           await receiver.commit(engine);
           if (version === 1) await receiver.send(group);
         }
         setTimeout(() => process.kill(process.pid, "SIGKILL"), 300);
         while (true) await receiver.send(group);
       }
       if ((await receiver.receive(group)) !== 1) throw new Error("another version came");
       await receiver.commit(engine);
       let lost;
       while ((lost = await codeOf(receiver.receive(group))) === "ok");
       return { lost, commit: await codeOf(receiver.commit(engine)), ...(await sample(1)) };`,
      patient(600_000),
    );
    expect(await ranks[0]!.result).toBeUndefined(); // killed, without an error message
    const result = await ranks[1]!.result;
    expect(result).toMatchObject({ value: LOST });
    expect(new Set((result!.value as Samples).versions)).toEqual(new Set([1]));
  });

  test("a receiver that dies is told to the sender, which trains on, and to the other receiver", async () => {
    const ranks = await rankProcesses(
      3,
      `${PARTS}
       const codeOf = (promise) => promise.then(() => "ok", (error) => error.code);
       let lost;
       if (rank === 0) {
         const trainer = await makeTrainer({});
         while ((lost = await codeOf(trainer.sendWeights(group, { bucketBytes: 64 }))) === "ok");
         await trainer.setVersion(9);
         return { lost, version: trainer.version };
       }
       const { receiver } = makeEngine({});
       while ((lost = await codeOf(receiver.receive(group))) === "ok");
       return { lost };`,
      patient(600_000),
    );
    setTimeout(() => ranks[1]!.child.kill("SIGKILL"), 1500);
    const results = await Promise.all(ranks.map(({ result }) => result));
    expect(results.map((result) => result?.value)).toEqual([
      { lost: "HONE_ERR_COLLECTIVE", version: 9 },
      undefined,
      { lost: "HONE_ERR_COLLECTIVE" },
    ]);
  });
});

withGloo("within a process", () => {
  let engine: Engine;
  let trainer: Trainer;

  beforeAll(async () => {
    engine = new Engine(modelConfig, { ...engineOptions, device: "cpu" }, { onMessage() {}, onError() {} });
    trainer = new Trainer(modelConfig, trainerOptions);
    await trainer.initialize(1n);
  });
  afterAll(async () => {
    await Promise.all([engine.close(), trainer.close()]);
  });

  const receiving = async (
    body: (sender: Communicator, receiver: Communicator) => Promise<void>,
    ms?: number,
  ) => {
    const [a, b] = await communicatorPair(ms);
    await body(a, b);
    await Promise.allSettled([a.close(), b.close()]);
  };

  test("an older version is refused, and the sender is told by whom", () =>
    receiving(async (a, b) => {
      const receiver = new WeightReceiver(modelConfig, { weightStorage: "f32" });
      const transfer = async (version: number) => {
        await trainer.setVersion(version);
        return await Promise.allSettled([trainer.sendWeights(a, SMALL), receiver.receive(b)]);
      };
      expect(await transfer(4)).toMatchObject([{ value: new Int32Array() }, { value: 4 }]);
      expect(await receiver.commit(engine)).toBe(4);
      expect(await transfer(3)).toMatchObject([
        { value: Int32Array.of(1) },
        {
          reason: {
            code: "HONE_ERR_STATE",
            message: expect.stringContaining("version 3 comes after version 4"),
          },
        },
      ]);
      await expect(receiver.commit(engine)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
      expect(await transfer(5)).toMatchObject([{ value: new Int32Array() }, { value: 5 }]);
      await receiver.close();
      await expect(receiver.receive(b)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
    }));

  test("adapters and the base loaded last: the tokens are those of an engine beside the trainer", () =>
    receiving(async (a, b) => {
      const adapted = new Trainer(modelConfig, { ...trainerOptions, lora: { ...LORA, seed: 1n } });
      const receiver = new WeightReceiver(modelConfig, { weightStorage: "f32" });
      const heard: Samples[] = [];
      for (const base of [5n, 6n]) {
        await adapted.initialize(base);
        for (let i = 0; i < 3; i++) await adapted.step(TEXT, ADAPTED_STEP);
        await adapted.parameter("model.norm.weight"); // reads the base in f32
        await Promise.all([adapted.sendWeights(a), receiver.receive(b)]);
        const [beside, apart] = await Promise.all([
          samplesOf((engine) => adapted.publish(engine)),
          samplesOf((engine) => receiver.commit(engine)),
        ]);
        expect(apart).toEqual(beside);
        heard.push(apart);
      }
      expect(heard.map(({ versions }) => versions[0])).toEqual([3, 6]);
      expect(heard[0]!.logprobs).not.toEqual(heard[1]!.logprobs);
      await Promise.all([adapted.close(), receiver.close()]);
    }));

  // Another trainer hung here: the message that announces an update was lost, and its broadcast waited forever.
  test("a broadcast for which nobody came ends at the time-out, and the process works meanwhile", () =>
    receiving(async (a) => {
      let ticks = 0;
      const timer = setInterval(() => ticks++, 5);
      await expect(trainer.sendWeights(a, SMALL)).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
      clearInterval(timer);
      expect(ticks).toBeGreaterThan(2);
      await trainer.setVersion(1);
      expect(trainer.version).toBe(1);
    }, 500));

  test("as rank 0 a receiver sends what it committed, and nothing else", () =>
    receiving(async (a, b) => {
      const [giver, taker] = [1, 2].map(() => new WeightReceiver(modelConfig, { weightStorage: "f32" }));
      await expect(giver!.send(a)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
      await receiving(async (c, d) => {
        await trainer.setVersion(8);
        await Promise.all([trainer.sendWeights(c, SMALL), giver!.receive(d)]);
      });
      await expect(giver!.send(a)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
      await giver!.commit(engine);
      expect(await Promise.all([giver!.send(a), taker!.receive(b)])).toEqual([8, 8]);
      expect(await taker!.commit(engine)).toBe(8);
      await Promise.all([giver!.close(), taker!.close()]);
    }));

  test("an abort ends it at once", () =>
    receiving(async (a) => {
      const sent = expect(trainer.sendWeights(a, SMALL)).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
      setTimeout(() => a.abort("nobody answers"), 50);
      await sent;
    }, 600_000));

  test("what cannot be sent or received is refused by name", () =>
    receiving(async (a, b) => {
      await expect(trainer.sendWeights(b)).rejects.toThrow(/rank 0 sends; this is rank 1/);
      await expect(trainer.sendWeights(a, { bucketBytes: 3 })).rejects.toThrow(/bucketBytes is 3/);
      await expect(trainer.sendWeights({} as Communicator)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
      const other = modelConfig.replace('"intermediate_size":56', '"intermediate_size":64');
      const receiver = new WeightReceiver(other, { weightStorage: "f32" });
      await expect(receiver.commit(engine)).rejects.toThrow(/another model config/);
      await expect(receiver.send(b)).rejects.toThrow(/send: rank 0 sends; this is rank 1/);
      await expect(receiver.receive(a)).rejects.toThrow(/receive: rank 0 sends; this is rank 0/);
      expect(await Promise.allSettled([trainer.sendWeights(a), receiver.receive(b)])).toMatchObject([
        { value: Int32Array.of(1) },
        { reason: { code: "HONE_ERR_CONFIG" } },
      ]);
      await receiver.close();
      expect(() => new WeightReceiver(modelConfig, { weightStorage: "f16" as never })).toThrow(
        /weightStorage/,
      );
    }));
});
