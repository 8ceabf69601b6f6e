/**
 * Guessing a word within three turns, in two minutes on two cores. The demonstrations guess words of the question, and 60 %
 * of the guesses ignore the observations so far; reinforcement learning teaches the model to use them.
 *
 *   npx hone run recipes/word-guess.ts
 */
import { defineRecipe } from "hone-rl";

export default defineRecipe({
  name: "word-guess",
  model: { config: { width: 64, layers: 2, heads: 2, mlpWidth: 128, maxPositions: 64 } },
  domains: {
    "word-guess": {
      weight: 1,
      source: "procedural/word-guess",
      environment: "word-guess",
      episode: { maxTurns: 3, maxTurnTokens: 1 },
    },
  },
  warmStart: {
    steps: 1200,
    mixture: { "word-guess": 1 },
    wrongRate: 0.6,
    endlessRate: 0,
    lr: 0.03,
    muonLr: 0.01,
    finalFraction: 0,
  },
  rollouts: { groupSize: 16, maxOutputTokens: 24, maxPromptTokens: 24 },
  lengthPenalty: { kind: "none" },
  advantages: { divideBy: "none" },
  objective: { clipLow: 0.2, clipHigh: 0.2 },
  optimizer: { lr: 2e-3, warmupSteps: 5, gradientClip: 1, schedule: "cosine", finalFraction: 0.05 },
  training: { steps: 400, groupsPerStep: 32 },
  engine: { maxRunning: 256 },
  evaluation: { problemsPerDomain: 256, attempts: 4, settings: [{ temperature: 1 }] },
});
