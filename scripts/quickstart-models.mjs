// Runs the quick start from scratch with each kind of model and several seeds, to compare a hybrid and a mixture with the
// dense model. Prints tables and writes rows to --json. Reuses runs whose folder already has a summary.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { optionsOf } from "./options.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const USAGE =
  "node scripts/quickstart-models.mjs [--models dense,hybrid] [--seeds 0,1] [--dir D] [--json FILE]";
const string = { type: "string" };
const values = optionsOf({ models: string, seeds: string, dir: string, json: string }, USAGE);
const models = (values.models ?? "dense,hybrid,mixture").split(",");
const seeds = (values.seeds ?? "0,1,2").split(",").map(Number);
const dir = values.dir ?? "runs/quickstart-models";

function run(model, seed) {
  const folder = path.join(dir, `${model}-${seed}`);
  const summary = path.join(folder, "summary.json");
  if (!existsSync(summary)) {
    const options = ["--model", model, "--seed", String(seed), "--from-scratch", "--dir", folder];
    const { status } = spawnSync(
      process.execPath,
      [path.join(root, "dist/recipes/quickstart.js"), ...options],
      {
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    if (status !== 0) process.exit(status ?? 1);
  }
  return rowOf(model, seed, JSON.parse(readFileSync(summary, "utf8")));
}

/** Returns a row of the results, with the scores at temperature 1. */
function rowOf(model, seed, { before, after, seconds }) {
  const [from, to] = [before, after].map((all) => all.find(({ temperature }) => temperature === 1));
  const scoreOf = ({ score, standardError }) => ({ score, standardError });
  const domains = Object.keys(from.domains).map((name) => [
    name,
    { before: scoreOf(from.domains[name]), after: scoreOf(to.domains[name]) },
  ]);
  const mean = { before: scoreOf(from.mean), after: scoreOf(to.mean) };
  return { model, seed, mean, domains: Object.fromEntries(domains), seconds };
}

const average = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const three = (number) => number.toFixed(3);
const shown = (rows, pick) =>
  ["before", "after"].map((side) => three(average(rows.map((row) => pick(row)[side].score)))).join(" → ");

const rows = models.flatMap((model) => seeds.map((seed) => run(model, seed)));
const domains = Object.keys(rows[0].domains);
console.log(`| model | ${seeds.map((seed) => `seed ${seed}`).join(" | ")} | mean gain |`);
console.log(`|---|${"---|".repeat(seeds.length + 1)}`);
for (const model of models) {
  const own = rows.filter((row) => row.model === model);
  const gains = own.map(({ mean }) => mean.after.score - mean.before.score);
  // the variance of the mean of independent runs, each the difference of two independent measurements
  const squares = own.map(({ mean }) => mean.after.standardError ** 2 + mean.before.standardError ** 2);
  const error = Math.sqrt(squares.reduce((sum, one) => sum + one, 0)) / own.length;
  const scores = own.map((row) => shown([row], ({ mean }) => mean));
  console.log(`| ${model} | ${scores.join(" | ")} | ${three(average(gains))} ± ${three(error)} |`);
}
console.log(`\n| model, mean of the seeds | ${domains.join(" | ")} |\n|---|${"---|".repeat(domains.length)}`);
for (const model of models) {
  const own = rows.filter((row) => row.model === model);
  console.log(`| ${model} | ${domains.map((name) => shown(own, (row) => row.domains[name])).join(" | ")} |`);
}
if (values.json !== undefined) {
  const machine = { cpu: cpus()[0].model, cores: availableParallelism() };
  writeFileSync(
    values.json,
    `${JSON.stringify({ date: new Date().toISOString(), machine, rows }, null, 1)}\n`,
  );
}
