// npm run arrival: what a newcomer meets, timed and counted. Installs the packed package into an empty folder, with a
// PATH that has Node, npm and the shell's tools but no compiler, and prints a table: what was found, and the bar.
// Exits with 1 where something does not work; a time above its bar is marked, since machines differ.
// Needs dist/ (npm ci), the registry, and a compiler where prebuilds/ is not there.
import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { packPackage } from "./package.mjs";
import { readSteps } from "./try-readme.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** Tools that npm's own scripts call; no compiler, no cmake, no nvcc, no Python. */
const TOOLS =
  "node npm npx sh bash env uname dirname basename readlink sed grep ls cat mkdir rm cp chmod".split(" ");
const TICKS_PER_SECOND = 100;

/** Runs a command to its end; what it printed. Throws with it where the command fails. */
function must(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status !== 0)
    throw new Error(
      `${command} ${args.join(" ")}: ${error?.message ?? `status ${status}\n${stdout}${stderr}`}`,
    );
  return stdout;
}

/** Seconds of the clock and of the processors that a command takes. */
function timed(command, args, options) {
  const begun = performance.now();
  const before = childTicks();
  const text = must(command, args, options);
  const cpu = (childTicks() - before) / TICKS_PER_SECOND;
  return { text, seconds: (performance.now() - begun) / 1000, cpu };
}

/** Processor time of the children that have ended, in ticks (proc(5): cutime and cstime). */
function childTicks() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

function bytesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const at = path.join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(at) : lstatSync(at).size);
  }, 0);
}

/** A folder that is the whole PATH. */
function toolsOnly(work) {
  const bin = path.join(work, "bin");
  mkdirSync(bin);
  for (const tool of TOOLS)
    symlinkSync(must("bash", ["-c", `command -v ${tool}`]).trim(), path.join(bin, tool));
  return { ...process.env, PATH: bin, npm_config_cache: path.join(work, "npm-cache") };
}

/** The README's own example, whose recipe is checked and run. */
function writeExample(folder) {
  const { files, typed } = readSteps(readFileSync(path.join(root, "README.md"), "utf8"));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  must("bash", ["-c", typed[0]], { cwd: folder });
}

const least = (values) => Math.min(...values);

async function arrive(work) {
  const rows = [];
  const row = (what, value, unit, bar) => rows.push({ what, value, unit, bar });
  const { filename, size, entryCount } = await packPackage(work);
  row("tarball", size / 1e6, "MB");
  row("files in it", entryCount, "", 400);
  const folder = path.join(work, "newcomer");
  mkdirSync(folder);
  writeExample(folder);
  const here = { cwd: folder, env: toolsOnly(work) };
  must("npm", ["init", "-y"], here);
  const install = timed("npm", ["install", "--no-audit", "--no-fund", path.join(work, filename)], here);
  const check = timed("npx", ["hone", "check", "recipe.mjs"], here);
  row("npm install, empty cache", install.seconds, "s");
  row("the first npx hone check", check.seconds, "s");
  row("both", install.seconds + check.seconds, "s", 20);
  row("node_modules", bytesBelow(path.join(folder, "node_modules")) / 1e6, "MB", 80);
  const five = (args) => Array.from({ length: 5 }, () => timed("node", args, here));
  const empty = least(five(["-e", "0"]).map(({ seconds }) => seconds));
  const imported = five(["--input-type=module", "-e", 'import "hone-rl"']).map(({ seconds }) => seconds);
  row('import "hone-rl"', least(imported) - empty, "s", 0.2);
  const child = path.join(folder, "node_modules/hone-rl/dist/lib/rewards/pool/verifier-main.js");
  const begins = five(["-e", `import(${JSON.stringify(child)}).finally(() => process.exit())`]);
  row("processor time of a verifier process's start", least(begins.map(({ cpu }) => cpu)), "s", 0.1);
  return rows;
}

function line({ what, value, unit, bar }) {
  const number = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
  const judged = bar === undefined ? "" : `${value <= bar ? "✓" : "✗"} bar ${bar}${unit && ` ${unit}`}`;
  return `${what.padEnd(48)}${`${number} ${unit}`.padEnd(12)}${judged}`.trimEnd();
}

const work = mkdtempSync(path.join(tmpdir(), "hone-arrival-"));
try {
  for (const row of await arrive(work)) console.log(line(row));
} finally {
  rmSync(work, { recursive: true, force: true });
}
