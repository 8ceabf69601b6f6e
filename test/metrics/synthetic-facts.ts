/** Synthesizes a run: facts of steps whose rewards rise and whose lengths fall, with every array that the collector reads. */
import type { StageCounts, StepFacts, UpdateFacts } from "../../lib/metrics/index.ts";
import type { DropReason, Rollout, RolloutGroup, ScoredRollout, ScoredVerdict } from "../../lib/records.ts";

export const TARGETS = {
  math: 0.4,
  code: 0.25,
  logic: 0.15,
  "instruction-following": 0.1,
  "function-calling": 0.1,
} as const;
const DOMAINS = Object.keys(TARGETS) as (keyof typeof TARGETS)[];
const MAX_TOKENS = 80;
const WORKERS = 2;

/** Returns uniform numbers in [0, 1), the same for the same seed. Source: mulberry32, Tommy Ettinger. */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface MutableCounts {
  submitted: number;
  inFlight: number;
  completed: number;
  retained: number;
  trained: number;
  trainedTokens: number;
  dropped: Partial<Record<DropReason, number>>;
}

export class SyntheticRun {
  readonly #random: () => number;
  readonly #counts: Record<string, MutableCounts> = {};
  readonly #steps: number;
  readonly #groups: number;
  #problem = 0;
  #seconds = 0;

  constructor(seed: number, steps = 120, groups = 32) {
    this.#random = uniform(seed);
    this.#steps = steps;
    this.#groups = groups;
    for (const d of DOMAINS) {
      this.#counts[d] = {
        submitted: 0,
        inFlight: 0,
        completed: 0,
        retained: 0,
        trained: 0,
        trainedTokens: 0,
        dropped: {},
      };
    }
  }

  /** Returns the facts of a step; call it for step 1, 2, ... in order. */
  step(step: number): StepFacts {
    const progress = 1 - Math.exp((-4 * step) / this.#steps);
    const groups = Array.from({ length: this.#groups }, () => this.#group(step, progress));
    for (const group of groups) this.#count(group);
    const kept = groups.filter((g) => g.dropped === undefined).flatMap((g) => g.rollouts);
    const update = trainedFacts(kept, step - 1, this.#random, progress);
    const total = 0.2 + 0.03 * this.#random() + 0.1 * (1 - progress);
    this.#seconds += total;
    const tokens = groups.flatMap((g) => g.rollouts).reduce((n, r) => n + r.rollout.tokens.length, 0);
    const calls = groups.length * 8;
    return {
      step,
      version: step,
      elapsedSeconds: this.#seconds,
      maxOutputTokens: MAX_TOKENS,
      groups,
      unscored: { code: step % 10 === 0 ? 1 : 0 },
      update,
      timing: {
        total,
        waiting: total * 0.3,
        checkpointing: 0,
        checkpoint: step % 5 === 0 ? { pause: 0.01, write: 0.2 } : {},
        logging: 0.001,
        recording: 0.004,
      },
      engine: {
        steps: 150,
        prefillTokens: groups.length * 30,
        decodeTokens: tokens,
        preemptions: 0,
        weightSwaps: 1,
        busySeconds: total * 0.93,
        prefillSeconds: total * 0.08,
        decodeSeconds: total * 0.8,
        weightSwapSeconds: 0.0004,
        pageSwapSeconds: 0.0002,
        takenUp: 3,
        takenUpTokens: 900,
        lostTokens: 70,
        running: 61,
        waiting: 12,
        maxRunning: 64,
        pagesUsed: 300,
        pagesTotal: 512,
      },
      mixture: {
        targets: TARGETS,
        counts: structuredClone(this.#counts) as Record<string, StageCounts>,
        ...this.#sampler(),
      },
      verifiers: {
        exact: {
          calls,
          timeouts: 0,
          crashes: 0,
          retries: 0,
          judged: calls,
          correct: Math.floor(calls / 2),
          partial: 1,
          unscored: 0,
          totalSeconds: calls * 2e-4,
          busySeconds: calls * 1e-4,
          latencyMs: { p50: 0.05, p95: 0.11, p99: 0.4 },
          judge: {
            calls: 6,
            cached: 2,
            tokens: 600,
            unreadable: 1,
            compared: 4,
            disagreement: 0.5,
            budgetLeft: 0.9,
          },
        },
        program: {
          calls: 40,
          timeouts: 1,
          crashes: 0,
          retries: 1,
          judged: 40,
          correct: 10,
          partial: 2,
          unscored: 1,
          totalSeconds: 0.08,
          busySeconds: 0.06,
          latencyMs: { p50: 1.2, p95: 3.1, p99: 9.5 },
        },
      },
      verifierWorkers: WORKERS,
      queues: { verifier: 3, grouper: 5, trainer: 2 },
      credits: { free: 40, total: 128 },
      rssBytes: (380 + 40 * progress) * 2 ** 20,
      processorSeconds: 3,
    };
  }

  #sampler() {
    const total = DOMAINS.reduce((n, d) => n + this.#counts[d]!.completed, 0);
    const adjustments = Object.fromEntries(
      DOMAINS.map((d) => [
        d,
        Math.min(10, Math.max(0.1, TARGETS[d] / (this.#counts[d]!.completed / total || 0.01))),
      ]),
    );
    const mass = DOMAINS.reduce((s, d) => s + TARGETS[d] * adjustments[d]!, 0);
    const probabilities = Object.fromEntries(DOMAINS.map((d) => [d, (TARGETS[d] * adjustments[d]!) / mass]));
    return { adjustments, probabilities };
  }

  #draw(): keyof typeof TARGETS {
    const total = DOMAINS.reduce((n, d) => n + this.#counts[d]!.completed, 0);
    if (total === 0) return "math";
    let at = this.#random();
    const { probabilities } = this.#sampler();
    for (const d of DOMAINS) {
      at -= probabilities[d]!;
      if (at < 0) return d;
    }
    return "function-calling";
  }

  #group(step: number, progress: number): RolloutGroup {
    const domain = this.#draw();
    const level = Math.floor(this.#random() * 4);
    const problem = {
      id: ++this.#problem,
      domain,
      family: "chain",
      level,
      question: "?",
      verifier: "exact",
      reference: 0,
    };
    const skill = Math.min(
      0.97,
      0.3 + 0.1 * DOMAINS.indexOf(domain) * (1 - progress) + 0.6 * progress - 0.06 * level,
    );
    const raw = Array.from({ length: 8 }, (_, attempt) =>
      this.#rollout(problem, attempt, step, skill, progress),
    );
    const mean = raw.reduce((s, r) => s + r.reward, 0) / raw.length;
    const rollouts = raw.map((r) => ({ ...r, advantage: Math.fround(r.reward - mean) }));
    const flat = rollouts.every((r) => Math.abs(r.advantage) < 1e-6);
    const solveRate = rollouts.filter((r) => r.verdict.status === "correct").length / rollouts.length;
    return {
      problem,
      rollouts,
      solveRate,
      submittedVersion: rollouts[0]!.rollout.versions[0]!,
      ...(flat && { dropped: "zero-advantage" }),
    };
  }

  #rollout(
    problem: Rollout["problem"],
    attempt: number,
    step: number,
    skill: number,
    progress: number,
  ): ScoredRollout {
    const random = this.#random;
    const mean =
      (12 + 6 * problem.level + 3 * DOMAINS.indexOf(problem.domain as "math")) * (1 - 0.45 * progress);
    const cut = random() < 0.08 * (1 - progress);
    const length = cut ? MAX_TOKENS : Math.max(3, Math.round(mean * (0.6 + 0.8 * random())));
    const oldest = Math.max(0, step - 1 - Math.floor(random() * 3));
    const turn = random() < 0.3 && oldest < step - 1 ? Math.floor(random() * length) : length;
    const tokens = Int32Array.from({ length }, () => Math.floor(random() * 226));
    const versions = Uint32Array.from({ length }, (_, t) => (t < turn ? oldest : oldest + 1));
    const solved = !cut && random() < skill;
    const penalty = cut ? -1 : -Math.max(0, (length - 16) / 64);
    const verdict: ScoredVerdict = cut
      ? { status: "no_answer", score: 0, reason: "no end of the answer" }
      : solved
        ? { status: "correct", score: 1, reason: "equal" }
        : random() < 0.1
          ? { status: "partial", score: 0.5, reason: "half of the constraints" }
          : { status: "wrong", score: 0, reason: "another value" };
    return {
      rollout: {
        problem,
        attempt,
        tokens,
        versions,
        promptTokens: new Int32Array(20 + problem.level * 5),
        logprobs: Float32Array.from({ length }, () => Math.fround(-0.4 * random())),
        entropies: Float32Array.from({ length }, () => Math.fround((0.5 - 0.3 * progress) * random())),
        oldestKvVersions: new Uint32Array(length).fill(oldest),
        finish: cut ? "length" : "eos",
        text: solved ? "7" : `wrong ${Math.floor(random() * 3)}`,
        submittedMs: 0,
        finishedMs: 40 + length,
      },
      verdict,
      reward: verdict.score + penalty * 0.5,
      penaltyScale: 0.5,
      penalty,
      advantage: 0,
    };
  }

  #count(group: RolloutGroup): void {
    const c = this.#counts[group.problem.domain]!;
    const n = group.rollouts.length;
    c.submitted += n;
    c.completed += n;
    c.inFlight = 16;
    if (group.dropped === undefined) {
      c.retained += n;
      c.trained += n;
      c.trainedTokens += group.rollouts.reduce((s, r) => s + r.rollout.tokens.length, 0);
    } else {
      c.dropped[group.dropped] = (c.dropped[group.dropped] ?? 0) + n;
    }
  }
}

/** Packs rollouts as the trainer sees them: log-probs equal the engine's at lag 0, and drift with age. */
export function trainedFacts(
  rollouts: readonly ScoredRollout[],
  version: number,
  random: () => number,
  progress = 0.5,
): UpdateFacts {
  const total = rollouts.reduce((n, r) => n + r.rollout.promptTokens.length + r.rollout.tokens.length, 0);
  const cuSeqlens = new Int32Array(rollouts.length + 1);
  const mask = new Uint8Array(total);
  const behaviorLogprobs = new Float32Array(total);
  const logprobs = new Float32Array(total);
  const entropies = new Float32Array(total);
  const clipped = new Uint8Array(total);
  let t = 0;
  let trainedTokens = 0;
  rollouts.forEach(({ rollout, advantage }, i) => {
    t += rollout.promptTokens.length;
    const drift = 0.01 * (random() - 0.5);
    const stop = (advantage > 0 && Math.exp(drift) > 1.004) || (advantage < 0 && Math.exp(drift) < 0.997);
    for (let k = 0; k < rollout.tokens.length; ++k, ++t) {
      const age = version - rollout.versions[k]!;
      mask[t] = 1;
      behaviorLogprobs[t] = rollout.logprobs[k]!;
      logprobs[t] = rollout.logprobs[k]! + (age > 0 ? drift : 0);
      entropies[t] = rollout.entropies[k]!;
      clipped[t] = stop && age > 0 ? 1 : 0;
      trainedTokens += 1;
    }
    cuSeqlens[i + 1] = t;
  });
  const norm = 0.5 + 0.3 * random();
  return {
    rollouts,
    batch: { cuSeqlens, mask, behaviorLogprobs, advantages: Float32Array.from(rollouts, (r) => r.advantage) },
    report: {
      loss: -0.01 * random(),
      policyLoss: -0.01 * random(),
      gradNorm: norm,
      gradScale: Math.min(1, 0.7 / norm),
      updateNorm: 0.02,
      weightNorm: 31,
      skipped: false,
      microBatches: 3,
      trainedTokens,
      packedTokens: total,
      startSeconds: 0.0003,
      packSeconds: 0.001,
      publishSeconds: 0.002,
      forwardSeconds: 0.04 + 0.01 * random(),
      backwardSeconds: 0.075 - 0.02 * progress,
      optimizerSeconds: 0.006,
      logprobs,
      entropies,
      clipped,
      layerGradNorms: Float64Array.of(0.2, 0.3, 0.25, 0.4),
    },
    version,
    learningRate: 2e-4,
    clip: { of: "sequence", low: 3e-3, high: 4e-3 },
    packingBudget: 4096,
  };
}
