#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import { recipeJsonSchema } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { packageVersion } from "../native/load.ts";
import { checkRecipe, checkText } from "./check.ts";
import { diagnose, diagnosisText } from "./doctor.ts";
import { EXIT, exitCodeOf, explain, interruptSignal } from "./exit.ts";
import { loadRecipe } from "./load-recipe.ts";
import { packageRoot } from "./package.ts";
import { trainAndEvaluate } from "./session.ts";

interface Common {
  readonly json?: boolean;
}
interface RunFlags extends Common {
  readonly dir?: string;
  readonly resume?: boolean | string;
  readonly set: readonly string[];
  readonly overwrite?: boolean;
}

/** Prints for people, or with --json one JSON value alone on stdout. */
function print({ json }: Common, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`);
}

async function run(file: string, flags: RunFlags): Promise<number> {
  const recipe = await loadRecipe(file, flags.set);
  const dir = flags.dir ?? join("runs", recipe.name);
  const resume = flags.resume === undefined ? "never" : flags.resume === true ? "auto" : String(flags.resume);
  if (resume === "never" && !flags.overwrite && existsSync(join(dir, "checkpoints"))) {
    throw new HoneError("HONE_ERR_USAGE", `${dir} holds a run with checkpoints`, {
      hint: "Go on with --resume, choose another --dir, or replace it with --overwrite.",
    });
  }
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const terminal = flags.json ? { write: () => true } : process.stdout;
  const { outcome, summary } = await trainAndEvaluate(recipe, {
    dir,
    resume,
    terminal,
    signal: interruptSignal(say),
  });
  if (flags.json) print(flags, summary, "");
  return outcome.reason === "aborted" ? EXIT.aborted : EXIT.done;
}

async function doctor(flags: Common): Promise<number> {
  const diagnosis = await diagnose();
  print(flags, diagnosis, diagnosisText(diagnosis));
  return diagnosis.problem === undefined ? EXIT.done : EXIT.environment;
}

async function check(file: string, flags: RunFlags): Promise<number> {
  const findings = await checkRecipe(await loadRecipe(file, flags.set));
  print(flags, findings, checkText(findings));
  return EXIT.done;
}

async function replay(dir: string, flags: Common): Promise<number> {
  const { replayRun } = await import("../orchestration/index.ts");
  const verdict = await replayRun(dir, {
    onStep: (step) => flags.json || process.stdout.write(`step=${step}\n`),
  });
  print(
    flags,
    verdict,
    `the same to the bit: ${verdict.steps} steps, ${verdict.rollouts} rollouts, weights ${verdict.weights}`,
  );
  return EXIT.done;
}

async function report(dir: string, flags: Common): Promise<number> {
  const { writeReport } = await import("../report/index.ts");
  const path = writeReport(dir);
  print(flags, { path }, path);
  return EXIT.done;
}

/** Hands over to a script of the package, its output and exit status unchanged. */
function script(name: string, args: readonly string[]): number {
  const result = spawnSync(process.execPath, [join(packageRoot(), "scripts", name), ...args], {
    stdio: "inherit",
  });
  return result.status ?? EXIT.environment;
}

const collect = (value: string, before: readonly string[]) => [...before, value];

function program(finish: (code: number) => void): Command {
  const ends =
    <A extends unknown[]>(action: (...args: A) => Promise<number>) =>
    async (...args: A) =>
      finish(await action(...args));
  const hone = new Command("hone")
    .description("Post-trains reasoning language models with reinforcement learning from verifiable rewards.")
    .version(packageVersion())
    .exitOverride();
  const setting = "--set <path=value>";
  hone
    .command("run <recipe>")
    .description("train, with evaluation before and after")
    .option("--dir <folder>", "run folder (default: runs/<name of the recipe>)")
    .option("--resume [checkpoint]", "go on from the newest checkpoint in the folder, or from this one")
    .option("--overwrite", "replace the run that the folder holds")
    .option(setting, "override a field, e.g. optimizer.lr=2e-4 (repeatable)", collect, [])
    .option("--json", "print summary.json instead of progress")
    .action(ends(run));
  hone
    .command("check <recipe>")
    .description(
      "validate a recipe; try its data and verifiers on three problems a domain; print the memory plan",
    )
    .option(setting, "override a field (repeatable)", collect, [])
    .option("--json", "print JSON")
    .action(ends(check));
  hone
    .command("replay <folder>")
    .description("execute a run again from its event log and compare every rollout and the weights by hash")
    .option("--json", "print JSON")
    .action(ends(replay));
  hone
    .command("report <folder>")
    .description("write report.html of a run, finished or not")
    .option("--json", "print JSON")
    .action(ends(report));
  hone
    .command("doctor")
    .description("what this machine and this build are; paste it into an issue")
    .option("--json", "print JSON")
    .action(ends(doctor));
  hone
    .command("build")
    .description("build the native core here")
    .allowUnknownOption()
    .action(() => finish(script("build-native.mjs", process.argv.slice(3))));
  hone
    .command("bench")
    .description("measure the kernels, the engine and the trainer against their floors")
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => finish(script("bench.mjs", process.argv.slice(3))));
  hone
    .command("schema")
    .description("print the JSON Schema of recipes")
    .action(() => print({ json: true }, recipeJsonSchema(), ""));
  return hone;
}

try {
  await program((code) => {
    process.exitCode = code;
  }).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else {
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = exitCodeOf(error);
  }
}
