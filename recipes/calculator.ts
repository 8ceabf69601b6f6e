/**
 * Arithmetic with a calculator as a tool, in half a minute on two idle cores. Half of the demonstrated messages are wrong
 * answers without a call; reinforcement learning teaches the model to call the tool and to answer with its result.
 *
 *   npx hone run recipes/calculator.ts
 */
import { defineRecipe } from "hone-rl";

export default defineRecipe({
  name: "calculator",
  model: { config: { width: 64, layers: 2, heads: 2, mlpWidth: 128, maxPositions: 64 } },
  domains: {
    calculator: {
      weight: 1,
      source: "procedural/calculator",
      environment: "calculator",
      episode: { maxTurns: 3, maxTurnTokens: 12 },
    },
  },
  warmStart: {
    steps: 1500,
    mixture: { calculator: 1 },
    wrongRate: 0.5,
    endlessRate: 0,
    lr: 0.03,
    muonLr: 0.01,
    finalFraction: 0,
  },
  rollouts: { groupSize: 16, maxOutputTokens: 48, maxPromptTokens: 16 },
  lengthPenalty: { kind: "none" },
  advantages: { divideBy: "none" },
  objective: { clipLow: 0.2, clipHigh: 0.2 },
  optimizer: { lr: 2e-3, warmupSteps: 5, gradientClip: 1, schedule: "cosine", finalFraction: 0.05 },
  training: { steps: 150, groupsPerStep: 16 },
  engine: { maxRunning: 256 },
  evaluation: { problemsPerDomain: 256, attempts: 4, settings: [{ temperature: 1 }] },
});
