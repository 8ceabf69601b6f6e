import type { SlopesModule, SlopesRequest } from "../custom-objective.ts";
import { defaultDevice } from "../device.ts";
import { askSlopes, loadSlopes } from "../shared/objectives/slopes-function.ts";
import type { NativeTrainer } from "./binding.ts";
import { nativeCommunicator } from "./communicator.ts";
import { nativeEngine } from "./engine.ts";
import { awaited, translated } from "./errors.ts";
import type {
  EngineFace,
  GradientParts,
  ModelConfigJson,
  OptimizerOptions,
  StepOptions,
  StepReport,
  TrainerFace,
  TrainerOptions,
  TrainingBatch,
} from "./face.ts";
import type { CommunicatorFace, SendWeightsOptions, WeightSenderFace } from "./group-face.ts";
import { binding } from "./load.ts";
import type { TeacherHead, TeacherScores } from "./teacher-face.ts";

/** A trainer with a thread of its own, over the addon: calls queue in order and resolve when done. */
export class Trainer implements TrainerFace, WeightSenderFace {
  readonly #native: NativeTrainer;

  /** Throws HONE_ERR_CONFIG naming the option, HONE_ERR_OUT_OF_MEMORY naming the arena, HONE_ERR_CUDA without a GPU to use. */
  constructor(config: ModelConfigJson, options: TrainerOptions) {
    const { NativeTrainer } = binding();
    const native = { ...withNativeGroup(options), device: options.device ?? defaultDevice() };
    this.#native = translated(() => new NativeTrainer(config, native));
  }

  /** Weight version after the last finished call. */
  get version(): number {
    return this.#native.version;
  }

  initialize(seed: bigint): Promise<void> {
    return awaited(() => this.#native.initialize(seed));
  }

  loadHf(directory: string): Promise<void> {
    return awaited(() => this.#native.loadHf(directory));
  }

  async step(batch: TrainingBatch, options: StepOptions, publishTo?: EngineFace): Promise<StepReport> {
    const engine = publishTo && nativeEngine(publishTo);
    return await withSlopes(options, (kept) => this.#native.step(batch, kept, engine));
  }

  gradientParts(
    batch: TrainingBatch,
    options: StepOptions,
    partOf: Int32Array,
    parts: number,
  ): Promise<GradientParts> {
    return withSlopes(options, (kept) => this.#native.gradientParts(batch, kept, partOf, parts));
  }

  score(
    batch: TrainingBatch,
    temperature: number,
  ): Promise<{ logprobs: Float32Array; entropies: Float32Array }> {
    return awaited(() => this.#native.score(batch, temperature));
  }

  teach(batch: TrainingBatch, temperature: number, topK: number): Promise<TeacherScores> {
    return awaited(() => this.#native.teach(batch, temperature, topK));
  }

  teacherHead(): Promise<TeacherHead> {
    return awaited(() => this.#native.teacherHead());
  }

  setTeacherHead(head: TeacherHead): Promise<void> {
    return awaited(() => this.#native.setTeacherHead(head));
  }

  async publish(engine: EngineFace): Promise<number> {
    const native = nativeEngine(engine);
    return await awaited(() => this.#native.publish(native));
  }

  async sendWeights(group: CommunicatorFace, options: SendWeightsOptions = {}): Promise<Int32Array> {
    const native = nativeCommunicator(group, "sendWeights");
    return await awaited(() => this.#native.sendWeights(native, options));
  }

  setVersion(version: number): Promise<void> {
    return awaited(() => this.#native.setVersion(version));
  }

  resetOptimizer(options: OptimizerOptions): Promise<void> {
    return awaited(() => this.#native.resetOptimizer(options));
  }

  save(directory: string, extra: string): Promise<void> {
    return awaited(() => this.#native.save(directory, extra));
  }

  stage(directory: string, extra: string): Promise<void> {
    return awaited(() => this.#native.stage(directory, extra));
  }

  written(): Promise<void> {
    return awaited(() => this.#native.written());
  }

  load(directory: string): Promise<string> {
    return awaited(() => this.#native.load(directory));
  }

  loadAdapters(directory: string): Promise<void> {
    return awaited(() => this.#native.loadAdapters(directory));
  }

  saveModel(directory: string): Promise<void> {
    return awaited(() => this.#native.saveModel(directory));
  }

  gatherWeights(): Promise<void> {
    return awaited(() => this.#native.gatherWeights());
  }

  parameter(name: string): Promise<Float32Array> {
    return awaited(() => this.#native.parameter(name));
  }

  /** Waits until a staged checkpoint is written. */
  async close(): Promise<void> {
    await this.written().catch(() => {}); // the caller of stage() handles this error
    await this.#native.close();
  }
}

/** Calls the core, and rethrows an exception of `slopes`, of which the core keeps only the message. */
async function withSlopes<T>(options: StepOptions, call: (options: StepOptions) => Promise<T>): Promise<T> {
  const slopes = typeof options.slopes === "object" ? await asked(options, options.slopes) : options.slopes;
  if (slopes === undefined) return await awaited(() => call(options));
  const failures: unknown[] = [];
  const kept = (request: SlopesRequest) => {
    try {
      slopes(request);
    } catch (failure) {
      failures.push(failure);
      throw failure;
    }
  };
  try {
    return await awaited(() => call({ ...options, slopes: kept }));
  } catch (failure) {
    throw failures.length > 0 ? failures[0] : failure;
  }
}

async function asked(options: StepOptions, module: SlopesModule): Promise<(request: SlopesRequest) => void> {
  const slopes = await loadSlopes(module);
  return (request) => askSlopes(slopes, request, options);
}

/** Replaces the communicators in the options by their native handles, which the addon expects. */
function withNativeGroup(options: TrainerOptions): TrainerOptions {
  const { sharding } = options;
  if (sharding?.communicator === undefined) return options;
  const communicator = nativeCommunicator(sharding.communicator, "sharding");
  const writers = sharding.writers && { writers: nativeCommunicator(sharding.writers, "sharding") };
  return { ...options, sharding: { ...sharding, communicator, ...writers } };
}
