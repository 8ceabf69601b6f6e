import { HoneError } from "../errors.ts";
import type {
  EngineFace,
  GradientParts,
  OptimizerOptions,
  StepOptions,
  StepReport,
  TrainerFace,
  TrainingBatch,
} from "../native/face.ts";
import { FleetEngine } from "./fleet-engine.ts";
import type { TransferPlan, TransportKind } from "./messages.ts";
import type { Located } from "./transfers.ts";
import type { Updates, WeightSource } from "./updates.ts";

/** A trainer without engines of its own, and how its weights leave it. */
export interface SendingTrainer {
  readonly trainer: TrainerFace;
  readonly send: (plan: TransferPlan) => Promise<void>;
  /** Members that can send the weights, at least one. */
  readonly senders: () => Promise<readonly Located[]>;
}

/**
 * A trainer whose weights go to engines of actors. One call after another, in order; while none is under way, actors that
 * missed the last weights get them.
 */
export class FleetTrainer implements TrainerFace, WeightSource {
  readonly way: TransportKind;
  readonly #inner: TrainerFace;
  readonly #sending: SendingTrainer;
  readonly #updates: Updates;
  #state = 0;

  constructor(sending: SendingTrainer, updates: Updates, way: TransportKind) {
    this.way = way;
    this.#inner = sending.trainer;
    this.#sending = sending;
    this.#updates = updates;
  }

  get version(): number {
    return this.#inner.version;
  }

  get state(): number {
    return this.#state;
  }

  send(plan: TransferPlan): Promise<void> {
    return this.#sending.send(plan);
  }

  /** A folder is announced when it is there: its members' time is measured by what writing it took. */
  get sendsFirst(): boolean {
    return this.way === "folder";
  }

  senders(): Promise<readonly Located[]> {
    return this.#sending.senders();
  }

  initialize(seed: bigint): Promise<void> {
    return this.#change(() => this.#inner.initialize(seed));
  }

  loadHf(directory: string): Promise<void> {
    return this.#change(() => this.#inner.loadHf(directory));
  }

  step(batch: TrainingBatch, options: StepOptions, publishTo?: EngineFace): Promise<StepReport> {
    return this.#change(async () => {
      const report = await this.#inner.step(batch, options);
      if (publishTo === undefined || report.skipped) return report;
      const begun = performance.now();
      await ofActors(publishTo).take(this);
      return { ...report, publishSeconds: (performance.now() - begun) / 1000 };
    });
  }

  gradientParts(
    batch: TrainingBatch,
    options: StepOptions,
    partOf: Int32Array,
    parts: number,
  ): Promise<GradientParts> {
    return this.#turn(() => this.#inner.gradientParts(batch, options, partOf, parts));
  }

  score(
    batch: TrainingBatch,
    temperature: number,
  ): Promise<{ logprobs: Float32Array; entropies: Float32Array }> {
    return this.#turn(() => this.#inner.score(batch, temperature));
  }

  publish(engine: EngineFace): Promise<number> {
    return this.#turn(() => ofActors(engine).take(this));
  }

  setVersion(version: number): Promise<void> {
    return this.#change(() => this.#inner.setVersion(version));
  }

  resetOptimizer(options: OptimizerOptions): Promise<void> {
    return this.#turn(() => this.#inner.resetOptimizer(options));
  }

  save(directory: string, extra: string): Promise<void> {
    return this.#turn(() => this.#inner.save(directory, extra));
  }

  stage(directory: string, extra: string): Promise<void> {
    return this.#turn(() => this.#inner.stage(directory, extra));
  }

  /** Not a call in its turn: others go on meanwhile. */
  written(): Promise<void> {
    return this.#inner.written();
  }

  load(directory: string): Promise<string> {
    return this.#change(() => this.#inner.load(directory));
  }

  loadAdapters(directory: string): Promise<void> {
    return this.#change(() => this.#inner.loadAdapters(directory));
  }

  saveModel(directory: string): Promise<void> {
    return this.#turn(() => this.#inner.saveModel(directory));
  }

  gatherWeights(): Promise<void> {
    return this.#turn(() => this.#inner.gatherWeights());
  }

  parameter(name: string): Promise<Float32Array> {
    return this.#turn(() => this.#inner.parameter(name));
  }

  close(): Promise<void> {
    return this.#change(() => this.#inner.close());
  }

  #turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#updates.exclusive(work);
  }

  /** Changes the weights: what is sent afterwards differs from what was sent before. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn(() => {
      this.#state += 1;
      return work();
    });
  }
}

function ofActors(engine: EngineFace): FleetEngine {
  if (engine instanceof FleetEngine) return engine;
  throw new HoneError("HONE_ERR_USAGE", "publish: the engine is not one of this fleet's actors");
}
