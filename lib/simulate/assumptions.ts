import type { Workload } from "./machine.ts";

/**
 * Data-sheet values of one GPU: memory bandwidth in bytes per second, and operations per second in bf16 without
 * sparsity. Uses the first whose name is contained in `hardware.gpu`.
 */
export const CARDS = [
  { name: "H200", bandwidth: 4.8e12, flops: 989e12 },
  { name: "H100", bandwidth: 3.35e12, flops: 989e12 },
  { name: "A100", bandwidth: 2.04e12, flops: 312e12 },
] as const;

/**
 * Values without a data sheet. docs/how-to/simulate.md gives the reason for each, and which were fitted to
 * the figures of the Apriel-Reasoner paper.
 */
export const ASSUMED = {
  /** Share of the memory's bandwidth that a step of generation reaches. Fitted: 36 hours for 250 steps. */
  bandwidthShare: 0.24,
  /** Seconds of a decode step besides memory traffic: launches, sampling, scheduling. */
  stepOverhead: 1e-3,
  /** Share of the peak rate that prefill reaches, and that a training step reaches. */
  prefillShare: 0.4,
  trainShare: 0.35,
  /** Seconds of an optimizer step besides forward and backward. */
  trainFixed: 2,
  /** Bytes a second between a card and its host. */
  hostBandwidth: 25e9,
  /** Bytes a second that NCCL broadcasts between cards of a node, and between nodes (a port of 400 Gb/s). */
  nodeBandwidth: 150e9,
  networkBandwidth: 40e9,
  gpusPerNode: 8,
} as const;

const quick = { mean: 0.05, cv: 1 };

/**
 * Answers in the domains of the Apriel-Reasoner paper. The paper states no lengths, keep rates and verifier
 * times: these are assumptions. `keep` is the same in all domains, fitted to 2,730 rollouts per step.
 */
export const PAPER_ANSWERS: Readonly<Record<string, Workload>> = {
  math: answers(3500, quick),
  code: answers(5000, { mean: 3, cv: 1 }),
  logic: answers(6700, quick),
  "instruction-following": answers(1200, quick),
  "function-calling": answers(500, quick),
};

function answers(mean: number, verify: Workload["verify"]): Workload {
  return { length: { mean, cv: 0.85 }, alike: 0.3, promptTokens: 300, keep: 0.375, verify };
}
