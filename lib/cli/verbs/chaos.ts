import { join } from "node:path";
import { HoneError } from "../../errors.ts";
import { columnsOf } from "../../report/terminal.ts";
import { EXIT, endAtSignals } from "../exit.ts";
import { loadRecipe } from "../load-recipe.ts";
import { processSettings } from "../process-settings.ts";
import { type Common, collect, print, SETTING, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly seed: string;
  readonly seconds: string;
  readonly processes?: string;
  readonly store?: string;
  readonly dir?: string;
  readonly set: readonly string[];
}

/** Training that the recipe ends earlier goes on for as long as faults do. */
const ENDLESS = "training.steps=1000000";

async function run(file: string, flags: Flags): Promise<number> {
  const { chaos } = await import("../../fleet/chaos.ts");
  const { nativeCore } = await import("../../orchestration/index.ts");
  const { chaosText } = await import("../chaos-table.ts");
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  endAtSignals();
  const processes = flags.processes === undefined ? [] : await processSettings(flags.processes, say);
  const recipe = await loadRecipe(file, [ENDLESS, ...processes, ...flags.set]);
  const reports = [];
  for (const seed of seedsOf(flags.seed)) {
    const report = await chaos({
      recipe,
      seed,
      seconds: numberOf("--seconds", flags.seconds),
      dir: flags.dir ?? join("runs", `${recipe.name}-chaos`),
      core: await nativeCore(),
      ...(flags.store !== undefined && { store: flags.store }),
    });
    reports.push(report);
    say(`seed ${seed}: ${report.checks.every(({ passed }) => passed) ? "holds" : "FAILS"}`);
  }
  print(flags, reports, chaosText(reports, columnsOf(process.stdout)));
  return reports.every(({ checks }) => checks.every(({ passed }) => passed)) ? EXIT.done : EXIT.bug;
}

function numberOf(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new HoneError("HONE_ERR_USAGE", `${flag} is ${JSON.stringify(text)}, not a whole number above 0`);
}

/** "7", or "0..19". Throws HONE_ERR_USAGE. */
export function seedsOf(text: string): number[] {
  const [all, from, to = from] = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(text) ?? [];
  if (all === undefined || Number(to) < Number(from) || Number(to) - Number(from) > 999)
    throw new HoneError("HONE_ERR_USAGE", `--seed is ${JSON.stringify(text)}, not a number or a range`, {
      hint: "Such as --seed 7, or --seed 0..19.",
    });
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
}

export const chaosVerb: Verb = (hone, ends) => {
  hone
    .command("chaos <recipe>")
    .description("train while processes are killed and stopped at random, and check that nothing came of it")
    .option("--seed <number>", "faults are drawn from it; 0..19 for many, one after the other", "0")
    .option("--seconds <number>", "for so long things go wrong, from the first step", "60")
    .option("--processes <number>", "so many beside this one (default: what the recipe says)")
    .option(
      "--store <address>",
      "where they meet (default: a socket of its own); redis-server: one of its own, which is killed too",
    )
    .option("--dir <folder>", "where the runs are kept (default: runs/<name of the recipe>-chaos)")
    .option(SETTING, "override a field, e.g. training.schedule=sync (repeatable)", collect, [])
    .option("--json", "print JSON")
    .action(ends(run));
};
