import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  EngineFace,
  StepOptions,
  StepReport,
  TrainerFace,
  TrainingBatch,
} from "../../lib/native/face.ts";
import type { Core } from "../../lib/orchestration/index.ts";
import { mix, StandInEngine, type StandInOptions } from "./stand-in-engine.ts";

export { StandInEngine, type StandInOptions };

function bitsOf(values: Float32Array | undefined): Int32Array {
  return values === undefined ? new Int32Array(0) : new Int32Array(values.slice().buffer);
}

export class StandInTrainer implements TrainerFace {
  version = 0;
  word = 0;
  steps: TrainingBatch[] = [];
  readonly #options: StandInOptions;
  #closed = false;

  constructor(options: StandInOptions) {
    this.#options = options;
  }

  async initialize(seed: bigint): Promise<void> {
    this.word = mix(Number(seed));
  }

  async loadHf(directory: string): Promise<void> {
    this.word = readFileSync(join(directory, "model.safetensors")).reduce((word, byte) => mix(word, byte), 0);
  }

  async step(batch: TrainingBatch, options: StepOptions, publishTo?: EngineFace): Promise<StepReport> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#closed) throw new Error("closed");
    const total = batch.tokens.length;
    const special = (await this.#options.onStep?.(batch, options, this.steps.length)) ?? {};
    this.steps.push(batch);
    if (special.skipped !== true) {
      const logprobs = bitsOf(batch.behaviorLogprobs);
      const advantages = bitsOf(batch.advantages);
      const lr = Math.round(options.lr * 1e9);
      this.word = mix(this.word, lr, ...batch.tokens, ...batch.mask, ...logprobs, ...advantages);
      if (options.keepsVersion !== true) this.version += 1;
      if (publishTo) await this.publish(publishTo);
    }
    return {
      loss: 1,
      policyLoss: 1,
      routerLoss: 0,
      givenRoutes: 0,
      replacedRoutes: 0,
      gradNorm: 1,
      gradScale: 1,
      updateNorm: 1,
      weightNorm: 1,
      skipped: false,
      nonFiniteSequence: -1,
      microBatches: 1,
      trainedTokens: batch.mask.reduce((n, m) => n + m, 0),
      packedTokens: total,
      forwardSeconds: 0,
      backwardSeconds: 0,
      optimizerSeconds: 0,
      packSeconds: 0,
      startSeconds: 0,
      publishSeconds: 0,
      logprobs: batch.behaviorLogprobs?.slice() ?? new Float32Array(total),
      entropies: new Float32Array(total),
      ratios: new Float32Array(total).fill(1),
      clipped: new Uint8Array(total),
      weights: new Float32Array(0),
      divergences: new Float32Array(0),
      expertRows: new Float64Array(0),
      layerGradNorms: new Float64Array(2),
      ...special,
    };
  }

  async gradientParts(_: TrainingBatch, __: StepOptions, ___: Int32Array, parts: number) {
    const products = new Float64Array(parts * parts);
    for (let p = 0; p < parts; ++p) products[p * parts + p] = 1;
    return { products, nonFiniteSequence: -1, microBatches: parts, seconds: 0 };
  }

  async score(batch: TrainingBatch): Promise<{ logprobs: Float32Array; entropies: Float32Array }> {
    return {
      logprobs: new Float32Array(batch.tokens.length),
      entropies: new Float32Array(batch.tokens.length),
    };
  }

  async teach(batch: TrainingBatch) {
    return { logprobs: new Float32Array(batch.tokens.length), teacherHidden: new Float32Array(0) };
  }

  async teacherHead() {
    return { weights: new Float32Array(1), width: 1, softcap: 0 };
  }

  async setTeacherHead(): Promise<void> {}

  async publish(engine: EngineFace): Promise<number> {
    (engine as StandInEngine).take(this.version, this.word);
    return this.version;
  }

  async setVersion(version: number): Promise<void> {
    this.version = version;
  }

  async resetOptimizer(): Promise<void> {}

  async save(directory: string, extra: string): Promise<void> {
    const weights = JSON.stringify({ version: this.version, word: this.word });
    const files = [
      { name: "model.safetensors", sha256: createHash("sha256").update(String(this.word)).digest("hex") },
    ];
    const temporary = `${directory}.tmp`;
    mkdirSync(temporary, { recursive: true });
    writeFileSync(join(temporary, "model.safetensors"), weights);
    writeFileSync(join(temporary, "manifest.json"), JSON.stringify({ body: { files, extra } }));
    if (existsSync(directory)) renameSync(directory, `${directory}.old-${Math.random()}`);
    renameSync(temporary, directory);
  }

  #written: Promise<void> = Promise.resolve();

  /** Saves the present state as soon as the event loop runs and earlier writes have ended. */
  async stage(directory: string, extra: string): Promise<void> {
    const copy = new StandInTrainer(this.#options);
    Object.assign(copy, { version: this.version, word: this.word });
    const before = this.#written.catch(() => {}).then(() => new Promise((resolve) => setImmediate(resolve)));
    this.#written = before.then(() => copy.save(directory, extra));
    this.#written.catch(() => {});
  }

  written(): Promise<void> {
    return this.#written;
  }

  async loadAdapters(directory: string): Promise<void> {
    await this.loadHf(directory);
  }

  async gatherWeights(): Promise<void> {}

  async saveModel(directory: string): Promise<void> {
    await this.save(directory, "{}");
  }

  async load(directory: string): Promise<string> {
    const text = readFileSync(join(directory, "model.safetensors"), "utf8");
    const { body } = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as {
      body: { extra: string };
    };
    const { version, word } = JSON.parse(text) as { version: number; word: number };
    this.version = version;
    this.word = word;
    return body.extra;
  }

  async parameter(): Promise<Float32Array> {
    return Float32Array.of(this.word);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/** A core of stand-ins; gives access to the trainers and engines that it opened. */
export function standInCore(
  options: StandInOptions = {},
): Core & { trainers: StandInTrainer[]; engines: StandInEngine[] } {
  const trainers: StandInTrainer[] = [];
  const engines: StandInEngine[] = [];
  return {
    trainers,
    engines,
    info: () => ({
      version: "stand-in",
      isa: "none",
      threads: 1,
      cuda: { compiled: null, driver: null, devices: [], memoryBytes: null, reason: "stand-in" },
      nccl: { version: null, reason: "stand-in" },
      gloo: { version: null, reason: "stand-in" },
    }),
    engine: (_, limits, handlers) => {
      const engine = new StandInEngine(limits, handlers, options);
      engines.push(engine);
      return engine;
    },
    trainer: () => {
      const trainer = new StandInTrainer(options);
      trainers.push(trainer);
      return trainer;
    },
  };
}
