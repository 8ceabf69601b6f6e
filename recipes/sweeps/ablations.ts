/**
 * The paper's ablations at the size of the quick start: domain mixture, length penalty and domain sampler, three seeds.
 *
 *   npm run ablations                          two processes at a time, tables and figures into runs/ablations
 *   npx hone sweep recipes/sweeps/ablations.ts --parallel 2 --dir runs/ablations
 *
 * The arms of a seed begin with the same warm start. Training is synchronous, so that the same seed gives the same
 * numbers again, and shorter than the quick start's.
 */
import { defineSweep, overrideRecipe } from "hone-rl";
import quickstart from "../quickstart.ts";

const DOMAINS = ["math", "code", "logic", "instruction-following", "function-calling"];
const mixture = (...shares: readonly number[]) =>
  DOMAINS.map((domain, i) => `domains.${domain}.weight=${shares[i]}`);

export default defineSweep({
  name: "ablations",
  recipe: overrideRecipe(quickstart, [
    "name=ablations",
    // As bench/notes/ablations.md has it measured.
    "optimizer.lr=2.5e-4",
    "optimizer.schedule=constant",
    "training.schedule=sync",
    "training.steps=100",
    "checkpoint.keepLast=1",
    'sinks=["jsonl"]',
    'evaluation={"problemsPerDomain":64,"attempts":6,"settings":[{"temperature":1}]}',
  ]),
  seeds: 3,
  cells: {
    // the paper's mixture, the difficulty-aware penalty, the adaptive sampler: in every study
    ours: [],
    "uniform mixture": mixture(0.2, 0.2, 0.2, 0.2, 0.2),
    "math and code": mixture(0.5, 0.5, 0, 0, 0),
    "plain penalty": ["lengthPenalty.kind=lp"],
    "no penalty": ["lengthPenalty.kind=none"],
    "static sampler": ["sampler=static"],
    "trained sampler": ["sampler=trained"],
  },
  studies: [
    {
      title: "Domain mixture",
      caption:
        "Held-out accuracy and tokens after training on three mixtures with the same settings. In the order math/code/logic/instruction following/function calling: uniform 0.20 each; math & code 0.50/0.50/0/0/0; ours 0.40/0.25/0.15/0.10/0.10.",
      arms: { Uniform: "uniform mixture", "Math & code": "math and code", "Our mixture": "ours" },
    },
    {
      title: "Length penalty",
      caption:
        "No penalty, the same penalty for every answer (LP), and one scaled by how often its group solves the problem (DAP); mixture, sampler and everything else alike.",
      arms: { LP: "plain penalty", None: "no penalty", DAP: "ours" },
      lengthsAgainst: "LP",
    },
    {
      title: "Domain sampler",
      caption:
        "Domains drawn by their weights alone (static), so that what completes keeps the mixture (adaptive, the paper's), or so that what the filter leaves to train on does (trained).",
      arms: { Static: "static sampler", Adaptive: "ours", Trained: "trained sampler" },
      mixture: true,
    },
  ],
});
