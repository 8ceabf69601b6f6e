// Tests whether a model learns the built-in environments. It runs recipes/calculator.ts and word-guess.ts as a user
// does, over three seeds, and counts the held-out problems solved before and after. The calculator is compared with the
// same recipe in a single turn, in which the model can call nothing; word-guess with the largest share of words that a
// guesser can find without using the replies: min(1, turns / words), averaged over the problems asked. Takes about five
// minutes; --smoke trains two steps of one seed, which shows only that the bench runs.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const main = path.join(root, "dist/lib/cli/main.js");
const seeds = smoke ? [0] : [0, 1, 2];
/** The recipe's number of turns in word-guess, and the number of words at each level. */
const TURNS = 3;
const WORDS = [4, 5, 6, 7];
const SMOKE = ["warmStart.steps=2", "training.steps=2", "evaluation.problemsPerDomain=8"];

/** Runs `npx hone run recipes/NAME.ts --set ...` and returns the results and the problems that were asked. */
function learn(name, settings) {
  const dir = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
  const sets = [...settings, ...(smoke ? SMOKE : [])].flatMap((setting) => ["--set", setting]);
  const argv = [main, "run", `recipes/${name}.ts`, "--dir", dir, "--overwrite", ...sets];
  const start = performance.now();
  const run = spawnSync(process.execPath, argv, { cwd: root, encoding: "utf8", maxBuffer: 1 << 27 });
  const wall = (performance.now() - start) / 1000;
  if (run.status !== 0) {
    process.stderr.write(run.stdout + run.stderr);
    process.exit(1);
  }
  const { before, after } = JSON.parse(readFileSync(path.join(dir, "summary.json"), "utf8"));
  const steps = linesOf(path.join(dir, "steps.jsonl")).slice(-10);
  const asked = linesOf(path.join(dir, "held-out-after.jsonl"));
  rmSync(dir, { recursive: true });
  const calls = steps.reduce((sum, { metrics }) => sum + (metrics["episode/tool-calls/calculator"] ?? 0), 0);
  return { wall, calls: calls / steps.length, asked, before: before[0].mean, after: after[0].mean };
}

const linesOf = (file) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

const row = (name, seed, { wall, before, after }, more) => ({
  name: `${name}, seed ${seed}`,
  value: after.solveRate,
  before: before.solveRate,
  scoreBefore: before.score,
  scoreAfter: after.score,
  standardError: after.standardError,
  seconds: wall,
  ...more,
});

const rows = seeds.flatMap((seed) => {
  const called = learn("calculator", [`seed=${seed}`]);
  const bare = learn("calculator", [`seed=${seed}`, "domains.calculator.episode.maxTurns=1"]);
  const words = learn("word-guess", [`seed=${seed}`]);
  const blind = words.asked.map(({ level }) => Math.min(1, TURNS / WORDS[level]));
  const withoutFeedback = blind.reduce((sum, share) => sum + share, 0) / blind.length;
  return [
    row("calculator, held out solved", seed, called, { floor: 0.9, callsAnEpisode: called.calls }),
    row("calculator in one turn, without calls", seed, bare),
    row("word-guess, held out solved", seed, words, { floor: withoutFeedback + 0.1, withoutFeedback }),
  ];
});
process.stdout.write(`${JSON.stringify({ rows })}\n`);
