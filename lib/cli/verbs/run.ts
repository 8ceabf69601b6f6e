import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Recipe } from "../../config/index.ts";
import { deviceOf } from "../../device.ts";
import { HoneError } from "../../errors.ts";
import { runChange } from "../../report/held-out-change.ts";
import { EXIT, endWithParent, exitCodeOf, explain, interruptSignal, isNonRetryable } from "../exit.ts";
import { loadEntry } from "../load-recipe.ts";
import { processSettings } from "../process-settings.ts";
import { type Common, collect, print, SETTING, STRICT_CONFIG, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly dir?: string;
  readonly resume?: boolean | string;
  readonly set: readonly string[];
  readonly overwrite?: boolean;
  readonly failOnRegression?: boolean;
  readonly startFrom?: string;
  readonly device?: string;
  readonly processes?: string;
  readonly store?: string;
  readonly agents?: boolean;
  readonly dryRun?: boolean;
  readonly live?: boolean;
  readonly port?: string;
  readonly host?: string;
}

/**
 * V8 collects long-lived objects only when the heap has grown to several times its live size, which would look like a
 * leak over thousands of steps. With this flag V8 collects them when the heap has grown by 30 %.
 */
const STEADY_HEAP = "--heap-growing-percent=30";

async function run(file: string, flags: Flags): Promise<number> {
  setFlagsFromString(STEADY_HEAP);
  if (flags.dryRun && !flags.agents)
    throw new HoneError("HONE_ERR_USAGE", "--dry-run works only for a run whose processes agents start", {
      hint: "`hone agent --dry-run` on every node; `hone check` tries a recipe on one machine.",
    });
  const { takesStdout, trainAndEvaluate } = await import("../session.ts");
  const device = flags.device === undefined ? [] : [`device=${deviceOf(flags.device, "--device")}`];
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const processes = flags.processes === undefined ? [] : await processSettings(flags.processes, say);
  const { recipe, sinks } = await loadEntry(file, [...flags.set, ...device, ...processes]);
  if (flags.store !== undefined) process.env["HONE_STORE"] = flags.store;
  if (flags.agents) process.env["HONE_AGENTS"] = "1";
  const dir = flags.dir ?? join("runs", recipe.name);
  const resume = flags.resume === undefined ? "never" : flags.resume === true ? "auto" : String(flags.resume);
  const { RUN_FILES } = await import("../../metrics/run-folder.ts");
  if (resume === "auto" && !existsSync(join(dir, RUN_FILES.manifest)))
    say(`${resolve(dir)} has no run to resume: starting a new one`);
  endWithParent();
  if (flags.dryRun) return await printReadiness(recipe, dir);
  const signal = interruptSignal(say, flags.agents);
  if (flags.json && takesStdout(recipe))
    throw new HoneError(
      "HONE_ERR_USAGE",
      "--json and a tracker of the recipe both write to standard output",
      {
        hint: 'Give the tracker a path instead of "-", or leave out --json.',
      },
    );
  using page = flags.live ? await openPage(dir, flags, recipe) : undefined;
  if (page?.url !== undefined) say(`watch it at ${page.url}`);
  const { outcome, summary, interrupted } = await trainAndEvaluate(recipe, {
    dir,
    resume,
    overwrite: flags.overwrite === true,
    ...(flags.startFrom !== undefined && { startFrom: flags.startFrom }),
    ...(flags.json && { terminal: { write: () => true } }),
    sinks,
    signal,
  });
  if (page?.url !== undefined)
    say(`the page is served while a browser has it open; later: npx hone watch ${dir}`);
  if (flags.json) print(flags, summary, "");
  if (interrupted || outcome.reason === "aborted") return exitCodeOf(signal.reason);
  const worse = flags.failOnRegression && runChange(summary)?.is === "loss";
  return worse || (summary.steps > 0 && summary.changedSteps === 0) ? EXIT.data : EXIT.done;
}

/** For agents, which must know whether to restart a process: marks errors that a restart would repeat. */
async function runForAgents(file: string, flags: Flags): Promise<number> {
  const { PROCESS_EXIT } = await import("../../fleet/index.ts");
  try {
    return await run(file, flags);
  } catch (error) {
    if (!isNonRetryable(error)) throw error;
    process.stderr.write(`${explain(error)}\n`);
    return PROCESS_EXIT.config;
  }
}

/** Starts the processes under agents and checks that all of them start; opens neither model nor data. */
async function printReadiness(recipe: Recipe, dir: string): Promise<number> {
  const { reportReadiness } = await import("../readiness.ts");
  process.stdout.write(`${await reportReadiness(recipe, dir)}\n`);
  return EXIT.done;
}

const openPage = async (dir: string, { port, host }: Flags, recipe: Recipe) => {
  const { recipeDemands } = await import("../../config/index.ts");
  const { startLivePage } = await import("../live-page.ts");
  return startLivePage(dir, { port, host, allowed: recipeDemands(recipe, ["objective"]) });
};

export const runVerb: Verb = (hone, ends) => {
  hone
    .command("run <recipe>")
    .description("train a model by a recipe, with evaluation before and after training")
    .option("--dir <folder>", "run folder (default: runs/<name of the recipe>)")
    .option("--resume [checkpoint]", "resume from the newest checkpoint in the folder, or from this one")
    .option(
      "--start-from <folder>",
      "begin with the weights of this checkpoint or model folder instead of the recipe's warm start",
    )
    .option("--overwrite", "replace the run in the folder")
    .option(
      "--fail-on-regression",
      "exit with 4 if the mean held-out score fell by more than two standard errors",
    )
    .option("--device <name>", "cpu or cuda (default: what the recipe says)")
    .option(
      "--processes <number>",
      "number of processes beside this one: half of them train, the others sample (docs/how-to/cluster.md)",
    )
    .option(
      "--store <address>",
      "store through which the processes exchange messages: unix:<path>, redis://host:port, or redis-server for a server of the run's own (default: HONE_STORE, or a socket of the run's own)",
    )
    .option(
      "--agents",
      "agents start the run's processes on other machines; one of them starts this command (hone agent)",
    )
    .option(
      "--dry-run",
      "with --agents: wait until every process has started, print which process runs where, and exit",
    )
    .option("--live", "serve a page of the run during training, and print its address (docs/how-to/live.md)")
    .option("--port <number>", "port of that page (default: a free port, kept when the run is resumed)")
    .option("--host <name>", "address that page listens at (default: 127.0.0.1, this machine alone)")
    .option(SETTING, "override a field, e.g. optimizer.lr=2e-4 (repeatable)", collect, [])
    .option(...STRICT_CONFIG)
    .option("--json", "print summary.json instead of progress")
    .action(ends((file, flags: Flags) => (flags.agents ? runForAgents(file, flags) : run(file, flags))));
};
