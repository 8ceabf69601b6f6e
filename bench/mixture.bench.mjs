// The mixture of completed and of trained groups under each of the recipe's samplers: the run's own accounting, 128
// groups in the pipeline, latencies and keep rates by domain as in the paper's five. Needs no model, because the next
// domain depends on counts alone. Deviations are means over domains of |share - target|, in points.
import { defineRecipe } from "../dist/lib/index.js";
import { GroupAccounting } from "../dist/lib/orchestration/pipeline/group-accounting.js";
import { CounterRandom } from "../dist/lib/random.js";

const smoke = process.argv.includes("--smoke");
const SEEDS = smoke ? [1] : [1, 2, 3];
/** The paper's 250 steps completed 683,000 rollouts. */
const GROUPS = smoke ? 2000 : 683_000 / 8;
const OUTSTANDING = 128;

// latency: ticks from prompt to verdict, mean and spread; kept: the share of groups that pass the filter
const DOMAINS = {
  math: { weight: 0.4, latency: [22, 12], kept: 0.55 },
  code: { weight: 0.25, latency: [51, 10], kept: 0.4 },
  logic: { weight: 0.15, latency: [34, 18], kept: 0.35 },
  "instruction-following": { weight: 0.1, latency: [14, 6], kept: 0.9 },
  "function-calling": { weight: 0.1, latency: [24, 6], kept: 0.3 },
};

const recipeFor = (sampler, seed) =>
  defineRecipe({
    name: "mixture",
    seed,
    sampler,
    model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 32 } },
    domains: Object.fromEntries(
      Object.entries(DOMAINS).map(([d, { weight }]) => [d, { weight, source: `procedural/${d}` }]),
    ),
    rollouts: { groupSize: 8, maxOutputTokens: 64, maxPromptTokens: 48 },
    lengthPenalty: { kind: "none" },
    training: { steps: 1, groupsPerStep: 64 },
  });

/** Simulates every group of a run: the first group to end settles, and another takes its place. */
function run(sampler, seed) {
  const random = new CounterRandom(seed, 0x6d6978);
  const silent = { submitted: () => {}, settled: () => {} };
  const clock = { now: () => 0 };
  const domains = Object.keys(DOMAINS);
  const accounting = new GroupAccounting({
    recipe: recipeFor(sampler, seed),
    domains,
    events: silent,
    version: () => 0,
    clock,
  });
  const line = [];
  const submit = (group, now) => {
    const domain = accounting.pick();
    const [mean, spread] = DOMAINS[domain].latency;
    // The sum of three uniforms has variance 1/4 and is close enough to a normal distribution.
    const noise = (random.next() + random.next() + random.next() - 1.5) * 2 * spread;
    line.push({
      request: accounting.submitted({ group, domain, index: group, attempts: 8 }),
      ends: now + Math.max(4, mean + noise),
    });
  };
  for (let group = 0; group < OUTSTANDING; group++) submit(group, 0);
  for (let group = OUTSTANDING; group < GROUPS; group++) {
    const first = line.reduce((best, { ends }, i) => (ends < line[best].ends ? i : best), 0);
    const [{ request, ends }] = line.splice(first, 1);
    accounting.completed(request, 8, 0);
    const kept = random.next() < DOMAINS[request.domain].kept;
    const rollouts = new Array(8).fill({ rollout: { tokens: [] } });
    accounting.settled({
      request,
      unscored: [],
      group: kept ? { rollouts } : { rollouts, dropped: "zero-advantage" },
    });
    submit(group, ends);
  }
  return accounting.mixture();
}

function deviation({ targets, counts }, stage) {
  const total = Object.values(counts).reduce((sum, count) => sum + count[stage], 0);
  const off = Object.entries(targets).map(([d, target]) => Math.abs(counts[d][stage] / total - target));
  return (100 * off.reduce((a, b) => a + b, 0)) / off.length;
}

const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
const rows = ["static", "adaptive", "trained"].flatMap((sampler) => {
  const mixtures = SEEDS.map((seed) => run(sampler, seed));
  const of = (stage) => mixtures.map((mixture) => deviation(mixture, stage));
  const trained = of("trained");
  const bound = sampler === "trained" ? { ceiling: 0.1 } : {};
  return [
    {
      name: `${sampler}: points off, trained rollouts`,
      value: mean(trained),
      worst: Math.max(...trained),
      ...bound,
    },
    { name: `${sampler}: points off, completed rollouts`, value: mean(of("completed")) },
  ];
});
process.stdout.write(JSON.stringify({ seeds: SEEDS.length, groups: Math.round(GROUPS), rows }));
