import { join } from "node:path";
import { definedRecipe, overrideRecipe, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { columnsOf, formatTable, type TableFormat } from "../report/index.ts";
import {
  type CaptionedTable,
  isSweepDefinition,
  type JobEntry,
  type PlanOptions,
  planSweep,
  progressIn,
  publish,
  type RunSweepOptions,
  runSweep,
  type SweepDefinition,
  type SweepPlan,
} from "../sweeps/index.ts";
import { honeCommand } from "./hone-command.ts";
import { loadExport } from "./load-recipe.ts";
import { progress } from "./progress.ts";

const SHOW_MS = 500;

/**
 * Loads the sweep that a file exports, or a sweep of the recipe that it exports; `settings` apply to every
 * cell. Throws HONE_ERR_USAGE, ConfigError.
 */
export async function loadSweep(file: string, settings: readonly string[]): Promise<SweepDefinition> {
  const exported = await loadExport(file);
  if (typeof exported !== "object" || exported === null) {
    throw new HoneError("HONE_ERR_USAGE", `${file} has no recipe and no sweep as its default export`, {
      hint: "End it with: export default defineSweep({ ... }), or defineRecipe({ ... })",
    });
  }
  const found = isSweepDefinition(exported) ? exported : undefined;
  const base = found?.recipe ?? definedRecipe(exported, file);
  const recipe = settings.length === 0 ? base : overrideRecipe(base, settings);
  return found === undefined ? sweepOf(recipe) : { ...found, recipe };
}

/** Formats progress: "7 of 24 done, 1 failed | ours seed 0: step 40 | warm start seed 1: 300". */
export function progressText(dir: string, jobs: readonly JobEntry[]): string {
  const count = (state: JobEntry["state"]) => jobs.filter((job) => job.state === state).length;
  const failed = count("failed") === 0 ? "" : `, ${count("failed")} failed`;
  const running = jobs
    .filter(({ state }) => state === "running")
    .map(({ cell, seed, log }) => {
      const at = progressIn(join(dir, log));
      return `${cell ?? "warm start"}, seed ${seed}${at === undefined ? "" : `: ${at}`}`;
    });
  return [`${count("done")} of ${jobs.length} done${failed}`, ...running].join(" | ");
}

/** The recipe, grid cells, seeds and folder of a sweep. */
export interface SweepOptions extends PlanOptions, Omit<RunSweepOptions, "command"> {
  /** A recipe, or the result of `defineSweep`. */
  readonly recipe: Recipe | SweepDefinition;
}

/** The outcome of each run of a sweep, and their combined results. */
export interface SweepResult {
  readonly jobs: readonly JobEntry[];
  readonly tables: readonly CaptionedTable[];
  /** Path of sweep.html. */
  readonly page: string;
}

/**
 * Runs every cell of a grid over several seeds, except runs that the folder already has, and writes the
 * sweep's page, tables and figures. A failed run is listed in `jobs` and does not stop the others. Throws
 * ConfigError or HONE_ERR_USAGE before anything runs.
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const { recipe } = options;
  return runPlan(planSweep(isSweepDefinition(recipe) ? recipe : sweepOf(recipe), options), options);
}

const sweepOf = (recipe: Recipe): SweepDefinition => ({ name: `${recipe.name}-sweep`, recipe });

async function runPlan(plan: SweepPlan, options: Omit<RunSweepOptions, "command">): Promise<SweepResult> {
  const jobs = await runSweep(plan, { ...options, command: honeCommand() });
  const { sections, page } = publish(options.dir, plan, jobs);
  return { jobs, tables: sections.flatMap(({ tables }) => tables), page };
}

/** Runs with progress on stderr. */
export async function runShown(
  plan: SweepPlan,
  options: Omit<RunSweepOptions, "command" | "onChange">,
): Promise<SweepResult> {
  const line = progress();
  let jobs: readonly JobEntry[] = [];
  const show = (isLast = false) => line.show(progressText(options.dir, jobs), isLast);
  const onChange = (now: readonly JobEntry[]) => {
    jobs = now;
    show();
  };
  const timer = setInterval(show, SHOW_MS);
  try {
    const result = await runPlan(plan, { ...options, onChange });
    jobs = result.jobs;
    show(true);
    return result;
  } finally {
    clearInterval(timer);
    line.end();
  }
}

/** Output of `--list`. */
export function listingText({ cells, seeds }: SweepPlan): string {
  const lines = cells.flatMap(({ name, settings }) => [name, ...settings.map((setting) => `  ${setting}`)]);
  return [...lines, "", `${cells.length} cells, seeds ${seeds.join(", ")}`].join("\n");
}

export const listing = ({ name, cells, seeds }: SweepPlan) => ({
  name,
  seeds,
  cells: cells.map(({ name: cell, settings, id }) => ({ name: cell, settings, id })),
});

/** The tables, then the failed runs with the paths of their logs, then the path of the page. */
export function resultText(
  dir: string,
  { jobs, tables: captioned, page }: SweepResult,
  format: TableFormat,
): string {
  const tables = captioned.map(
    ({ caption, table }) =>
      `${format === "latex" ? "% " : ""}${caption}\n\n${formatTable(table, format, columnsOf(process.stdout))}`,
  );
  const failed = jobs
    .filter(({ state }) => state === "failed")
    .map(
      ({ cell, seed, error, log }) =>
        `failed: ${cell ?? "warm start"}, seed ${seed}: ${error}\n  ${join(dir, log)}`,
    );
  const open = jobs.filter(({ state }) => state === "waiting" || state === "stopped").length;
  const more = open === 0 ? [] : [`${open} not finished: run the same command again to continue`];
  return [...tables, ...failed, ...more, `page: ${page}`].join("\n\n");
}
