// npm run chaos -- <recipe> [--seed 0..19] [--seconds 60] [--processes N] [--store redis-server] [--set field=value]
// Trains while processes are killed and stopped at random, and checks that this changed nothing (process-chaos.ts).
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EXIT, runMain } from "../../lib/cli/exit.ts";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { processSettings } from "../../lib/cli/process-settings.ts";
import { nativeCore } from "../../lib/orchestration/index.ts";
import { type ChaosReport, chaos } from "./process-chaos.ts";

/** Enough steps that the run does not end before the faults do. */
const ENDLESS = "training.steps=1000000";

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: "string", default: "0" },
      seconds: { type: "string", default: "60" },
      processes: { type: "string" },
      store: { type: "string" },
      dir: { type: "string" },
      set: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
    },
  });
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const { processes: count, store, dir, seconds, json } = values;
  const processes = count === undefined ? [] : await processSettings(count, say);
  const recipe = await loadRecipe(positionals[0]!, [ENDLESS, ...processes, ...values.set]);
  const [first = 0, last = first] = values.seed.split("..").map(Number);
  const core = await nativeCore();
  const reports: ChaosReport[] = [];
  for (let seed = first; seed <= last; seed++) {
    const at = dir ?? join("runs", `${recipe.name}-chaos`);
    const options = { recipe, seed, seconds: Number(seconds), dir: at, core, ...(store && { store }) };
    const report = await chaos(options);
    reports.push(report);
    say(`seed ${seed}: ${holds(report) ? "holds" : "FAILS"}`);
  }
  process.stdout.write(`${json ? JSON.stringify(reports) : reports.map(detail).join("\n\n")}\n`);
  return reports.every(holds) ? EXIT.done : EXIT.bug;
}

const holds = ({ checks }: ChaosReport): boolean => checks.every(({ passed }) => passed);

function detail({ seed, faults, struck, steps, checks }: ChaosReport): string {
  const rows = checks.map(({ name, passed, found }) => `  ${passed ? "holds" : "FAILS"}  ${name}: ${found}`);
  const head = `seed ${seed}: ${struck} of ${faults.length} faults met a process, ${steps} steps`;
  return [head, ...rows, `  ${faults.join(" ")}`].join("\n");
}

await runMain(main);
