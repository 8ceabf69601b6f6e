/**
 * A decoder of some thousand weights, with sizes that a GPU accepts too, and its options, for tests with the real
 * addon.
 */
import type {
  EngineMessage,
  EngineOptions,
  GenerationRequest,
  OptimizerOptions,
  StepOptions,
  TrainerOptions,
} from "../../lib/native/face.ts";
import { Engine, Generations, Trainer } from "../../lib/native/index.ts";

export const VOCABULARY = 61;

export const modelConfig = JSON.stringify({
  model_type: "llama",
  vocab_size: VOCABULARY,
  hidden_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 56,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
  hidden_act: "silu",
});

export const engineOptions: EngineOptions = {
  maxRunning: 16,
  pageTokens: 16,
  pages: 512,
  maxContext: 500,
  stepTokens: 128,
  weightStorage: "f32",
  runSeed: 7n,
};

export const optimizer: OptimizerOptions = {
  kind: "adamw",
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  decayAll: false,
  muonMomentum: 0.95,
  gradientClip: 1,
};

export const trainerOptions: TrainerOptions = { optimizer, packedTokens: 4096, weightStorage: "f32" };

export const stepOptions: StepOptions = {
  objective: "gspo",
  sequenceWeight: "uniform",
  clipLow: 3e-3,
  clipHigh: 4e-3,
  klCoef: 0,
  entropyCoef: 0,
  temperature: 1,
  lr: 1e-3,
  muonLr: 0,
};

export function request(id: number, change: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    id,
    prompt: Int32Array.from([1, 2, 3 + (id % 20)]),
    count: 2,
    problem: id,
    firstAttempt: 0,
    sampling: { temperature: 1 },
    maxTokens: 30,
    stopIds: [5],
    ...change,
  };
}

/** Opens a trainer with random weights, and an engine with the same weights. */
export async function trainerAndGenerations(
  options: Partial<EngineOptions> = {},
): Promise<{ trainer: Trainer; generations: Generations }> {
  const trainer = new Trainer(modelConfig, trainerOptions);
  await trainer.initialize(3n);
  const generations = new Generations(
    (handlers) => new Engine(modelConfig, { ...engineOptions, ...options }, handlers),
  );
  await trainer.publish(generations.engine);
  return { trainer, generations };
}

/** Opens an engine without weights; returns its messages, and its first error as a promise. */
export function bareEngine(options: Partial<EngineOptions> = {}) {
  const messages: EngineMessage[] = [];
  let onError: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    onError = resolve;
  });
  const engine = new Engine(
    modelConfig,
    { ...engineOptions, ...options },
    {
      onMessage: (message) => messages.push(message),
      onError: (error) => onError(error),
    },
  );
  return { engine, messages, failed };
}
