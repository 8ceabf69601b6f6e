// The objectives that bench/trl.bench.mjs trains with on both sides, each in TRL's terms and in Hone's.

const ONE = { updates: 1, lr: 1.5e-4 };
/** Four updates a batch: with one update and no lag every ratio would be 1, and no clip would act. */
const FOUR = { updates: 4, lr: 1.5e-4 };

const clip = (clipLow, clipHigh) => ({ clipLow, clipHigh });
const epsilon = (low, high) => ({ epsilon: low, epsilon_high: high });
const grpo = (args, trainer = "GRPOTrainer") => ({ trainer, args: { scale_rewards: "group", ...args } });
const BY_DEVIATION = { divideBy: "sample-std" };

/**
 * Each objective by name: updates per batch and their learning rate, TRL's trainer with its configuration, and the
 * fields of Hone's recipe; `reward` is a function of bench/trl-rewards.py other than `right`. The examples have the
 * fields of the recipes in docs/how-to/from-trl.md and from-verl.md, which test/docs/typed-pages.test.ts compares.
 */
export const OBJECTIVES = {
  "TRL's example": {
    ...ONE,
    trl: { ...grpo({ loss_type: "dapo", ...epsilon(0.2, 0.2) }), reward: "accuracy_reward" },
    hone: {
      advantages: BY_DEVIATION,
      objective: { kind: "dapo", ...clip(0.2, 0.2) },
      reward: "accuracy_reward",
    },
  },
  "verl's example": {
    ...ONE,
    trl: grpo({
      loss_type: "dapo",
      beta: 0.001,
      use_bias_correction_kl: false,
      weight_decay: 0.01,
      ...epsilon(0.2, 0.2),
    }),
    hone: {
      advantages: BY_DEVIATION,
      objective: { kind: "dapo", ...clip(0.2, 0.2), klCoef: 0.001 },
      optimizer: { weightDecay: 0.01 },
      reward: "compute_score",
    },
  },
  grpo: {
    ...ONE,
    trl: grpo({ loss_type: "grpo", ...epsilon(0.2, 0.2) }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "grpo", ...clip(0.2, 0.2) } },
  },
  rloo: {
    ...ONE,
    trl: { trainer: "RLOOTrainer", args: { beta: 0, ...epsilon(0.2, 0.2) } },
    hone: {
      advantages: { baseline: "leave-one-out", divideBy: "none" },
      objective: { kind: "ppo-clip", ...clip(0.2, 0.2) },
    },
  },
  "dapo, 4 updates": {
    ...FOUR,
    trl: grpo({ loss_type: "dapo", ...epsilon(0.2, 0.28) }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "dapo", ...clip(0.2, 0.28) } },
  },
  "dapo, 2 updates, 2 epochs": {
    ...FOUR,
    updates: 2,
    epochs: 2,
    trl: grpo({ loss_type: "dapo", ...epsilon(0.2, 0.28) }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "dapo", ...clip(0.2, 0.28) } },
  },
  "dr-grpo, 4 updates": {
    ...FOUR,
    trl: grpo({ loss_type: "dr_grpo", scale_rewards: "none", ...epsilon(0.2, 0.2) }),
    hone: { advantages: { divideBy: "none" }, objective: { kind: "dr-grpo", ...clip(0.2, 0.2) } },
  },
  "cispo, 4 updates": {
    ...FOUR,
    trl: grpo({ loss_type: "cispo", epsilon_high: 5 }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "cispo", ...clip(1, 4) } },
  },
  "gspo, 4 updates": {
    ...FOUR,
    trl: grpo({ loss_type: "grpo", importance_sampling_level: "sequence", ...epsilon(3e-3, 4e-3) }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "gspo", ...clip(3e-3, 4e-3) } },
  },
  "gspo-token, 4 updates": {
    ...FOUR,
    trl: grpo(
      { loss_type: "grpo", importance_sampling_level: "sequence_token", ...epsilon(3e-3, 4e-3) },
      "GSPOTokenTrainer",
    ),
    hone: { advantages: BY_DEVIATION, objective: { kind: "gspo-token", ...clip(3e-3, 4e-3) } },
  },
  "sapo, 4 updates": {
    ...FOUR,
    trl: grpo({ loss_type: "sapo" }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "sapo" } },
  },
  "gmpo, 4 updates": {
    ...FOUR,
    trl: grpo(epsilon(0.4, 0.4), "GMPOTrainer"),
    hone: { advantages: BY_DEVIATION, objective: { kind: "gmpo", ...clip(0.4, 0.4) } },
  },
  distillation: {
    ...ONE,
    teacher: true,
    trl: { trainer: "DistillationTrainer", args: { beta: 1 } },
    // TRL trains on one answer per prompt, Hone on at least two
    hone: {
      objective: { kind: "dapo", ...clip(0.2, 0.28) },
      teacher: { divergence: { beta: 1 } },
      groupSize: 2,
      curve: "kl/teacher/divergence",
    },
  },
  "distillation, sampled tokens": {
    ...ONE,
    teacher: true,
    trl: { trainer: "DistillationTrainer", args: { beta: 1 } },
    hone: { objective: { kind: "dapo", ...clip(0.2, 0.28) } },
  },
};

/**
 * Objectives of which only the gradients are compared: additions to an objective, and objectives that are equal to
 * another under a different name.
 */
export const VARIANTS = {
  "luspo: gspo by length": {
    ...ONE,
    trl: grpo({ loss_type: "luspo", importance_sampling_level: "sequence", ...epsilon(3e-3, 4e-3) }),
    hone: {
      advantages: BY_DEVIATION,
      objective: { kind: "gspo", sequenceWeight: "length", ...clip(3e-3, 4e-3) },
    },
  },
  "grpo with the KL term": {
    ...ONE,
    trl: grpo({ loss_type: "grpo", beta: 0.1, use_bias_correction_kl: false, ...epsilon(0.2, 0.2) }),
    hone: { advantages: BY_DEVIATION, objective: { kind: "grpo", klCoef: 0.1, ...clip(0.2, 0.2) } },
  },
  "dapo with a dual clip": {
    ...ONE,
    trl: grpo({ loss_type: "dapo", delta: 1.05, ...epsilon(0.02, 0.02) }),
    hone: {
      advantages: BY_DEVIATION,
      objective: { kind: "dapo", dualClip: 1.05, ...clip(0.02, 0.02) },
    },
  },
  "grpo with the unbiased KL term and an off-policy mask": {
    ...ONE,
    trl: grpo({ loss_type: "grpo", beta: 0.1, off_policy_mask_threshold: 0.05, ...epsilon(0.2, 0.2) }),
    hone: {
      advantages: BY_DEVIATION,
      objective: {
        kind: "grpo",
        klCoef: 0.1,
        klEstimator: "unbiased",
        offPolicyMask: 0.05,
        ...clip(0.2, 0.2),
      },
    },
  },
  "dapo of high-entropy tokens": {
    ...ONE,
    trl: grpo({ loss_type: "dapo", top_entropy_quantile: 0.2, ...epsilon(0.2, 0.28) }),
    hone: {
      advantages: BY_DEVIATION,
      objective: { kind: "dapo", tokens: { kind: "high-entropy", fraction: 0.2 }, ...clip(0.2, 0.28) },
    },
  },
};

const GROUP = 8;
const PROMPTS = 16;
const LENGTH = 48;

/** The keyword arguments of TRL's configuration. */
export function trlArguments({ updates, epochs = 1, lr, teacher = false, trl }, batches, seed) {
  const optimizerSteps = batches * updates * epochs;
  const ofGroups = {
    num_generations: GROUP,
    steps_per_generation: updates,
    num_iterations: epochs,
  };
  return {
    per_device_train_batch_size: (GROUP * PROMPTS) / updates,
    gradient_accumulation_steps: 1,
    max_completion_length: LENGTH,
    temperature: 1,
    learning_rate: lr,
    max_grad_norm: 1,
    max_steps: optimizerSteps,
    logging_steps: updates * epochs,
    seed,
    ...(teacher ? {} : ofGroups),
    ...trl.args,
  };
}

/**
 * The recipe of a run on whose batches TRL's loss is evaluated too: its weights change much, and those that sample
 * lag behind.
 */
export function recordedRecipe(objective, given, batches) {
  const recipe = honeRecipe({ ...objective, lr: 1e-3 }, given, batches, 0);
  return {
    ...recipe,
    rollouts: { ...recipe.rollouts, record: true },
    training: { ...recipe.training, schedule: "async", maxLag: 4 },
    checkpoint: { everySteps: 1, keepLast: batches + 1 },
  };
}

/**
 * A recipe of Hone that does the same. @param rows files of rows @param python the Python with the reward; without it
 * there is no reward
 */
export function honeRecipe(objective, { model, teacher, rows, rewards, python }, batches, seed) {
  const { updates, epochs = 1, lr, hone } = objective;
  const { groupSize = GROUP } = hone;
  return {
    seed,
    model: { folder: model },
    domains: {
      chain: {
        source: { kind: "jsonl", path: rows, heldOut: 1 },
        reward: { python: `${rewards}#${hone.reward ?? "right"}` },
      },
    },
    python: { bin: python },
    ...(objective.teacher && { teacher: { folder: teacher, ...hone.teacher } }),
    rollouts: { groupSize, maxPromptTokens: LENGTH, maxOutputTokens: LENGTH },
    objective: hone.objective,
    advantages: { filter: "none", ...hone.advantages },
    optimizer: { lr, warmupSteps: 0, beta2: 0.999, gradientClip: 1, ...hone.optimizer },
    training: {
      steps: batches,
      groupsPerStep: (GROUP * PROMPTS) / groupSize,
      updatesPerBatch: updates,
      epochs,
      schedule: "sync",
    },
    sinks: ["jsonl"],
    evaluation: { problemsPerDomain: 1, settings: [{ temperature: 1 }] },
  };
}
