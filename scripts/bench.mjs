// npm run bench: builds the native benches, runs them and the TypeScript benches, and prints each number with its bound, as
// a ratio measured in the same run. --smoke: takes a few seconds and enforces no bounds. --json FILE: also writes the rows
// to a file. --only NAME[,NAME]: runs only these. Exits with 1 if a bound is missed (never with --smoke).
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { optionsOf } from "./options.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const USAGE =
  "npm run bench -- [--only NAME[,NAME]] [--smoke] [--json FILE]\nNames are those of bench/NAME.bench.cc and .mjs.";
const string = { type: "string" };
const {
  only: list,
  smoke,
  json: kept,
} = optionsOf({ only: string, smoke: { type: "boolean", default: false }, json: string }, USAGE);
const only = list?.split(",");
const wanted = (name) => only === undefined || only.includes(name);

function run(command, argv) {
  const result = spawnSync(command, argv, { cwd: root, encoding: "utf8", maxBuffer: 1 << 27 });
  if (result.status !== 0) {
    console.error(`${command} ${argv.join(" ")}\n${result.stdout ?? ""}${result.stderr ?? result.error}`);
    process.exit(1);
  }
  return result.stdout;
}

const known = readdirSync(path.join(root, "bench")).flatMap(
  (file) => /^(.+)\.bench\.(?:cc|mjs)$/.exec(file)?.[1] ?? [],
);
const unknown = only?.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`no bench is called ${unknown}; there are ${known.sort().join(", ")}`);
  process.exit(2);
}

const natives = readdirSync(path.join(root, "bench"))
  .filter((file) => file.endsWith(".bench.cc"))
  .map((file) => file.slice(0, -".bench.cc".length))
  .filter(wanted);
// The benches link the same libraries as the addon.
const build = path.join(root, "build/cmake");
if (natives.length > 0) {
  if (!existsSync(path.join(build, "CMakeCache.txt"))) {
    console.error("hone: the native core was not built here. Run: npm run build:native");
    process.exit(1);
  }
  run("cmake", ["-S", root, "-B", build, "-DHONE_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release"]);
  const jobs = String(process.env.HONE_JOBS ?? availableParallelism());
  const targets = natives.map((name) => `bench_${name}`);
  run("cmake", ["--build", build, "-j", jobs, "--target", ...targets]);
}

const scripts = readdirSync(path.join(root, "bench"))
  .filter((file) => file.endsWith(".bench.mjs"))
  .map((file) => file.slice(0, -".bench.mjs".length))
  .filter(wanted);

const mode = ["--json", ...(smoke ? ["--smoke"] : [])];
const results = [
  ...natives.map((name) => [name, path.join(build, `bench_${name}`), mode]),
  ...scripts.map((name) => [name, process.execPath, [path.join(root, `bench/${name}.bench.mjs`), ...mode]]),
].map(([name, command, argv]) => {
  const { rows, ...rest } = JSON.parse(run(command, argv));
  print(name, rows, rest);
  return { name, ...rest, rows };
});

/** Prints one bench as a table: all numbers of its rows, and whether each row meets its bound. */
function print(name, rows, rest) {
  const facts = Object.entries(rest).map(([key, value]) => `${key} ${format(value)}`);
  console.log(`\n${name}${facts.length > 0 ? `  (${facts.join(", ")})` : ""}`);
  for (const { name: row, floor, ceiling, value, ...numbers } of rows) {
    const measured = Object.entries(numbers).map(([key, v]) => `${key} ${format(v)}`);
    const first = value === undefined ? "" : `${format(value)}  `;
    const verdict = { floor, ceiling, value, ...numbers };
    console.log(`  ${row.padEnd(44)} ${first}${measured.join("  ")}${bound(verdict)}`);
  }
}

function bound(row) {
  if (!isBound(row)) return "";
  const limit = row.floor === undefined ? `ceiling ${row.ceiling}` : `floor ${row.floor}`;
  return `  ${limit}: ${met(row) ? "met" : "MISSED"}`;
}

function isBound(row) {
  return row.floor !== undefined || row.ceiling !== undefined;
}

/** A row's bound applies to `value`, or to fractionOfPeak if the row has no value. */
function met(row) {
  const value = row.value ?? row.fractionOfPeak;
  return row.floor === undefined ? value <= row.ceiling : value >= row.floor;
}

function format(value) {
  if (Array.isArray(value)) return value.map(format).join(" ");
  if (typeof value !== "number") return String(value);
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

const missed = results.flatMap((r) => r.rows.filter((row) => isBound(row) && !met(row)));
if (kept) {
  const machine = { cpu: cpus()[0]?.model, cores: availableParallelism(), node: process.version };
  writeFileSync(
    kept,
    `${JSON.stringify({ date: new Date().toISOString(), machine, smoke, results }, null, 2)}\n`,
  );
}
if (!smoke && missed.length > 0) {
  console.log(`\n${missed.length} bound(s) missed: ${missed.map((row) => row.name).join("; ")}`);
  process.exit(1);
}
