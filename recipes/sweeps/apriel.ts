/**
 * The candidate sets that the paper searched (appendix C, table of candidate values), around its launch configuration:
 *
 *   npx hone sweep recipes/sweeps/apriel.ts --axes "learning rate" --list     what would run
 *   npx hone sweep recipes/sweeps/apriel.ts --axes "learning rate,clip"       5 x 2 cells over three seeds
 *
 * All axes together are 360 cells; the paper does not say which of them it ran. Without --axes, all of them.
 */
import { defineSweep } from "hone-rl";
import apriel from "../apriel-15b.ts";

const DOMAINS = ["math", "code", "logic", "instruction-following", "function-calling"] as const;

/** In the paper's order: mathematics, code, logic, instruction following, function calling. */
const rates = (...shares: readonly number[]): [string, string[]] => [
  shares.map((share) => share.toFixed(2)).join("/"),
  DOMAINS.map((domain, i) => `domains.${domain}.weight=${shares[i]}`),
];

const clip = (low: number, high: number): [string, string[]] => [
  `${low} ${high}`,
  [`objective.clipLow=${low}`, `objective.clipHigh=${high}`],
];

const dap = (buffer: number, exponent: number, incorrect: number): [string, string[]] => [
  `${buffer} ${exponent} ${incorrect}`,
  [
    `lengthPenalty.bufferTokens=${buffer}`,
    `lengthPenalty.solveRateExponent=${exponent}`,
    `lengthPenalty.incorrectScale=${incorrect}`,
  ],
];

const each = (path: string, values: readonly string[]) =>
  Object.fromEntries(values.map((value) => [value, [`${path}=${value}`]]));

export default defineSweep({
  name: "apriel-candidates",
  recipe: apriel,
  axes: {
    "learning rate": each("optimizer.lr", ["7.5e-7", "1e-6", "1.25e-6", "2.5e-6", "5e-6"]),
    clip: Object.fromEntries([clip(3e-4, 4e-4), clip(3e-3, 4e-3)]),
    "domain rates": Object.fromEntries([
      rates(0.2, 0.2, 0.2, 0.2, 0.2),
      rates(0.35, 0.25, 0.15, 0.15, 0.1),
      rates(0.4, 0.25, 0.15, 0.1, 0.1),
      rates(0.3, 0.3, 0.15, 0.15, 0.1),
      rates(0.35, 0.2, 0.15, 0.15, 0.15),
      rates(0.5, 0.5, 0, 0, 0),
    ]),
    "length penalty": Object.fromEntries([dap(2000, 1, 1), dap(2000, 0.5, 0.5)]),
    "output tokens": each("rollouts.maxOutputTokens", ["16000", "20000", "24000"]),
  },
});
