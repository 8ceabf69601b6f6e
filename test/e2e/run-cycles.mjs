// node --expose-gc run-cycles.mjs <folder> <cycles>: repeatedly makes a run of the built package with verifiers in
// processes, trains two steps and disposes of it. Every tenth cycle it prints the process's memory as JSON.
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { createRun, defineRecipe } from "../../dist/lib/index.js";

const [dir, cycles] = process.argv.slice(2);

const recipe = defineRecipe({
  name: "cycles",
  seed: 3,
  model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 128 } },
  domains: {
    math: { weight: 0.5, source: "procedural/math" },
    logic: { weight: 0.3, source: "procedural/logic" },
    code: { weight: 0.2, source: "procedural/code" },
  },
  rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64 },
  lengthPenalty: { kind: "dap", bufferTokens: 20 },
  advantages: { divideBy: "none", filter: "reward" },
  training: { steps: 2, groupsPerStep: 2 },
  checkpoint: { everySteps: 2 },
  sinks: ["jsonl"],
});

async function cycle() {
  const run = await createRun(recipe, { dir, overwrite: true });
  try {
    await run.finished;
  } finally {
    await run[Symbol.asyncDispose]();
  }
}

/** The process's memory after garbage collection. */
async function held(cycle) {
  for (let i = 0; i < 2; i++) {
    await turn();
    globalThis.gc();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const threads = readdirSync("/proc/self/task");
  const children = threads.map((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8"));
  return {
    cycle,
    rss,
    heap: heapUsed + external,
    descriptors: readdirSync("/proc/self/fd").length,
    threads: threads.length,
    children: children.join("").trim(),
  };
}

for (let i = 1; i <= Number(cycles); i++) {
  await cycle();
  if (i % 10 === 0) console.log(JSON.stringify(await held(i)));
}
