// npm run arrival: measures a new user's first steps. Installs the packed package into an empty folder, with a PATH that has
// Node, npm and the shell's tools but no compiler, and prints a table of measurements and their bounds. Exits with 1 if
// something does not work; a time above its bound is only marked, because machines differ.
// Needs dist/ (npm ci), the registry, and a compiler for the prebuilt core; installs a given tarball in place of a new one.
import {
  cpSync,
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
import { must } from "./must.mjs";
import { packPackage } from "./package.mjs";
import { readSteps } from "./try-readme.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** The tools that npm's own scripts call: no compiler, no cmake, no nvcc, no Python. */
const TOOLS =
  "node npm npx sh bash env uname dirname basename readlink sed grep ls cat mkdir rm cp chmod".split(" ");
const TICKS_PER_SECOND = 100;

/** Measures the wall-clock and processor seconds of a command. */
function timed(command, args, options) {
  const begun = performance.now();
  const before = childTicks();
  const text = must(command, args, options);
  const cpu = (childTicks() - before) / TICKS_PER_SECOND;
  return { text, seconds: (performance.now() - begun) / 1000, cpu };
}

/** Returns the processor time of ended child processes, in ticks (proc(5): cutime and cstime). */
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

/** Makes a folder of these tools that becomes the whole PATH. */
function toolsOnly(work) {
  const bin = path.join(work, "bin");
  mkdirSync(bin);
  for (const tool of TOOLS)
    symlinkSync(must("bash", ["-c", `command -v ${tool}`]).trim(), path.join(bin, tool));
  return { ...process.env, PATH: bin, npm_config_cache: path.join(work, "npm-cache") };
}

/** Writes the README's own example, whose recipe is checked and run. */
function writeExample(folder) {
  const { files, typed } = readSteps(readFileSync(path.join(root, "README.md"), "utf8"));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  must("bash", ["-c", typed[0]], { cwd: folder });
}

const ROWS = Array.from({ length: 2000 }, (_, n) => JSON.stringify({ prompt: `Say something about ${n}.` }));
const recipeOf = (rewards) => `import { defineRecipe } from "hone-rl";

export default defineRecipe({
  model: { config: { width: 64, layers: 2, heads: 2, mlpWidth: 128 } },
  domains: { vowels: { source: "rows.jsonl", ${rewards} } },
  rollouts: { maxOutputTokens: 8, maxPromptTokens: 32 },
  training: { steps: 60 },
  optimizer: { lr: 1e-3 },
});
`;
/** Recipes over rows with a prompt but no answer, by the property of a completion that their reward measures. */
const RECIPES = {
  "a boolean reward": "reward: ({ completion }) => /^[aeiou]/i.test(completion)",
  "two functions of a Python file": `rewards: {
    vowel: { reward: { python: "rewards.py#starts_with_vowel" }, weight: 1, range: [-1, 1] },
    short: { reward: { python: "rewards.py#is_short" }, weight: 0.1 },
  }`,
};

/** Trains the recipe `name` with `hone run`; returns the mean reward of its first ten and of its last ten steps. */
function trained(name, here) {
  const dir = `runs/${name}`;
  must("npx", ["hone", "run", `${name}.mjs`, "--dir", dir], here);
  const steps = readFileSync(path.join(here.cwd, dir, "steps.jsonl"), "utf8")
    .trim()
    .split("\n");
  const rewards = steps.map((step) => JSON.parse(step).metrics["reward/mean"]);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return [mean(rewards.slice(0, 10)), mean(rewards.slice(-10))];
}

/** Measures how much each recipe of ten lines learns; returns a table row for each. Throws if a reward does not rise. */
function firstRecipes(here) {
  writeFileSync(path.join(here.cwd, "rows.jsonl"), ROWS.join("\n"));
  cpSync(path.join(root, "test/fixtures/arrival/rewards.py"), path.join(here.cwd, "rewards.py"));
  return Object.entries(RECIPES).map(([what, rewards], i) => {
    const text = recipeOf(rewards);
    writeFileSync(path.join(here.cwd, `first-${i}.mjs`), text);
    const [first, last] = trained(`first-${i}`, here);
    if (!(last > first + 0.1)) throw new Error(`${what}: the reward does not rise: ${first} to ${last}`);
    const lines = text.trim().split("\n").length;
    return { what: `${lines} lines with ${what}: ${first.toFixed(2)} to`, value: last, unit: "" };
  });
}

const least = (values) => Math.min(...values);

/** Returns npm's description of a tarball that is already packed, or of a new one in `work`. */
async function packed(work, tarball) {
  if (tarball === undefined) return await packPackage(work);
  cpSync(tarball, path.join(work, path.basename(tarball)));
  return JSON.parse(must("npm", ["pack", "--dry-run", "--json", path.resolve(tarball)], { cwd: work }))[0];
}

async function arrive(work, tarball) {
  const rows = [];
  const row = (what, value, unit, bar) => rows.push({ what, value, unit, bar });
  const { filename, size, entryCount } = await packed(work, tarball);
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
  const node = five(["-e", "0"]);
  const empty = least(node.map(({ seconds }) => seconds));
  const imported = five(["--input-type=module", "-e", 'import "hone-rl"']).map(({ seconds }) => seconds);
  row('import "hone-rl"', least(imported) - empty, "s", 0.2);
  const child = path.join(folder, "node_modules/hone-rl/dist/lib/rewards/pool/verifier-main.js");
  const begins = five(["-e", `import(${JSON.stringify(child)}).finally(() => process.exit())`]);
  row("processor time of a verifier process's start", least(begins.map(({ cpu }) => cpu)), "s", 0.1);
  row("of it Node's own (node -e 0)", least(node.map(({ cpu }) => cpu)), "s");
  const withPython = { ...here, env: { ...here.env, PATH: `${here.env.PATH}:/usr/bin` } };
  return [...rows, ...firstRecipes(withPython)];
}

function line({ what, value, unit, bar }) {
  const number = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
  const judged = bar === undefined ? "" : `${value <= bar ? "✓" : "✗"} bar ${bar}${unit && ` ${unit}`}`;
  return `${what.padEnd(56)}${`${number} ${unit}`.padEnd(12)}${judged}`.trimEnd();
}

const work = mkdtempSync(path.join(tmpdir(), "hone-arrival-"));
try {
  for (const row of await arrive(work, process.argv[2])) console.log(line(row));
} finally {
  rmSync(work, { recursive: true, force: true });
}
