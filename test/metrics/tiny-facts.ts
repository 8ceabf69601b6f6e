/** Facts small enough to compute by hand: every field has a default, and a test sets only the fields it checks. */
import type { StageCounts, StepFacts, UpdateFacts } from "../../lib/metrics/index.ts";
import type { Problem, Rollout, RolloutGroup, ScoredRollout, ScoredVerdict } from "../../lib/records.ts";

export interface TinyRollout {
  readonly domain?: string;
  readonly level?: number;
  readonly status?: ScoredVerdict["status"];
  readonly score?: number;
  readonly reward?: number;
  readonly penaltyScale?: number;
  readonly penalty?: number;
  readonly advantage?: number;
  /** The engine's log-probs, one for each token of the rollout. */
  readonly logprobs?: readonly number[];
  readonly entropies?: readonly number[];
  readonly versions?: readonly number[];
  readonly kv?: readonly number[];
  readonly prompt?: number;
  readonly finish?: Rollout["finish"];
  readonly text?: string;
}

export function rollout(tiny: TinyRollout = {}): ScoredRollout {
  const logprobs = Float32Array.from(tiny.logprobs ?? [-0.5, -0.25]);
  const length = logprobs.length;
  const versions = Uint32Array.from(tiny.versions ?? new Array<number>(length).fill(0));
  const status = tiny.status ?? "correct";
  const score = tiny.score ?? (status === "correct" ? 1 : 0);
  const problem: Problem = {
    id: 1,
    domain: tiny.domain ?? "math",
    family: "chain",
    level: tiny.level ?? 0,
    question: "?",
    verifier: "exact",
    reference: 0,
  };
  return {
    rollout: {
      problem,
      attempt: 0,
      logprobs,
      versions,
      tokens: new Int32Array(length),
      promptTokens: new Int32Array(tiny.prompt ?? 1),
      entropies: Float32Array.from(tiny.entropies ?? new Array<number>(length).fill(0.5)),
      oldestKvVersions: Uint32Array.from(tiny.kv ?? versions),
      finish: tiny.finish ?? "eos",
      text: tiny.text ?? "7",
      submittedMs: 0,
      finishedMs: 1,
    },
    verdict: { status, score, reason: "" },
    reward: tiny.reward ?? score,
    penaltyScale: tiny.penaltyScale ?? 0,
    penalty: tiny.penalty ?? 0,
    advantage: tiny.advantage ?? 1,
  };
}

export function group(rollouts: readonly ScoredRollout[], rest: Partial<RolloutGroup> = {}): RolloutGroup {
  const solved = rollouts.filter((r) => r.verdict.status === "correct").length;
  const problem = rollouts[0]?.rollout.problem ?? rollout().rollout.problem;
  return { problem, rollouts, solveRate: solved / rollouts.length, submittedVersion: 0, ...rest };
}

/** A batch of the rollouts; `logprobs[i][k]` is the trainer's for token k of rollout i, by default the engine's. */
export function trained(
  rollouts: readonly ScoredRollout[],
  logprobs: readonly (readonly number[])[] = rollouts.map((r) => [...r.rollout.logprobs]),
  rest: Partial<Omit<UpdateFacts, "report">> & { readonly report?: Partial<UpdateFacts["report"]> } = {},
): UpdateFacts {
  const cu = [0];
  const mask: number[] = [];
  const behavior: number[] = [];
  const now: number[] = [];
  rollouts.forEach(({ rollout: r }, i) => {
    for (let t = 0; t < r.promptTokens.length; ++t) {
      mask.push(0);
      behavior.push(Number.NaN); // NaN shows a collector that wrongly reads a prompt token
      now.push(Number.NaN);
    }
    mask.push(...new Array<number>(r.tokens.length).fill(1));
    behavior.push(...r.logprobs);
    now.push(...logprobs[i]!);
    cu.push(mask.length);
  });
  const counted = mask.filter((m) => m === 1).length;
  const { report, ...others } = rest;
  return {
    rollouts,
    batch: {
      cuSeqlens: Int32Array.from(cu),
      mask: Uint8Array.from(mask),
      behaviorLogprobs: Float32Array.from(behavior),
      advantages: Float32Array.from(rollouts, (r) => r.advantage),
    },
    report: {
      loss: 0.5,
      policyLoss: 0.4,
      routerLoss: 0.02,
      gradNorm: 2,
      gradScale: 1,
      updateNorm: 0.1,
      weightNorm: 10,
      skipped: false,
      microBatches: 1,
      trainedTokens: counted,
      packedTokens: mask.length,
      startSeconds: 0.02,
      packSeconds: 0.01,
      publishSeconds: 0.05,
      forwardSeconds: 0.1,
      backwardSeconds: 0.2,
      optimizerSeconds: 0.05,
      logprobs: Float32Array.from(now),
      entropies: new Float32Array(mask.length).fill(0.25),
      clipped: new Uint8Array(mask.length),
      layerGradNorms: Float64Array.of(1, 2, 3),
      ...report,
    },
    version: 0,
    learningRate: 1e-4,
    packingBudget: 100,
    ...others,
  };
}

export function counts(rest: Partial<StageCounts> = {}): StageCounts {
  return {
    submitted: 0,
    inFlight: 0,
    completed: 0,
    retained: 0,
    trained: 0,
    trainedTokens: 0,
    replayed: 0,
    dropped: {},
    ...rest,
  };
}

export function facts(rest: Partial<StepFacts> = {}): StepFacts {
  return {
    step: 1,
    version: 1,
    elapsedSeconds: 10,
    maxOutputTokens: 80,
    groups: [],
    rssBytes: 1000,
    evaluation: { step: 0, score: 0.5, seconds: 3, tokens: 700 },
    timing: { total: 1, waiting: 0.25 },
    mixture: { targets: { math: 1 }, counts: {}, probabilities: { math: 1 }, adjustments: { math: 1 } },
    verifiers: {},
    queues: {},
    ...rest,
  };
}
