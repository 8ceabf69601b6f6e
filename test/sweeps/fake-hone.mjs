// Stands in for `hone` in tests of sweeps: `run <recipe> --dir <folder> --resume [--start-from <checkpoint>]`. The
// recipe's name chooses what it does: "fails", "dies", "lingers" until a signal stops it, "waits" for a file "go" in
// its folder; any other name succeeds.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [verb, recipeFile, ...rest] = process.argv.slice(2);
const option = (name) => rest[rest.indexOf(name) + 1];
const { default: recipe } = await import(pathToFileURL(recipeFile).href);
const dir = option("--dir");
const resumed = existsSync(join(dir, "calls.json"));
mkdirSync(join(dir, "checkpoints", "warm-start"), { recursive: true });
const startFrom = rest.includes("--start-from") ? option("--start-from") : undefined;
const { HONE_THREADS: threads } = process.env;
const facts = { verb, seed: recipe.seed, steps: recipe.training.steps, startFrom, resumed, threads, at: Date.now() };
writeFileSync(join(dir, "calls.json"), JSON.stringify({ ...facts, resume: rest.includes("--resume") }));
const end = (state, code) => {
  writeFileSync(join(dir, "summary.json"), JSON.stringify({ state }));
  process.exit(code);
};
console.log('phase="training" total=9');
if (recipe.name === "dies") process.kill(process.pid, "SIGKILL");
if (recipe.name === "fails") {
  console.error("HONE_ERR_DATA  no rows\n  hint: Look.");
  process.exit(4);
}
process.on("SIGINT", () => end("stopped", 130));
process.once("disconnect", () => end("stopped", 129));
console.log("step=3 score=0.5");
if (recipe.name === "lingers") setInterval(() => {}, 1000);
else if (recipe.name === "waits") setInterval(() => existsSync(join(dir, "go")) && end("done", 0), 20);
else if (recipe.name === "slow") setTimeout(() => end("done", 0), 300);
else end("done", recipe.name === "trains nothing" ? 4 : 0);
