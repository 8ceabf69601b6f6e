// Hone beside TRL on the CPU, wherever both have the same objective, and with the recipes of docs/how-to/from-trl.md and
// from-verl.md (bench/trl-objectives.mjs): the same model folder, which is
// the quick start's after its warm start, rows, Python reward and hyper-parameters, three seeds, one thread each. What is
// compared: the score of the sampled answers batch by batch, and on held-out rows of the trained models, both asked and judged
// by Hone. Distillation has no score while it trains: its curve is the reverse KL to the teacher.
//   python3 -m venv venv && venv/bin/pip install torch transformers trl && HONE_PEERS=venv/bin/python npm run bench -- --only trl
//   node bench/trl.bench.mjs --objectives 'grpo;rloo' --seeds 1 --dir runs/trl     some of it; runs in the folder are not made again
// Fifty minutes of one core. Writes bench/results/DATE-trl.json, .md and .svg; of some of it, into the folder. Without
// HONE_PEERS: no rows.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CounterRandom } from "../dist/lib/random.js";
import { honeRecipe, OBJECTIVES, recordedRecipe, trlArguments, VARIANTS } from "./trl-objectives.mjs";
import { writeReport } from "./trl-report.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const python = process.env.HONE_PEERS;
const all = Object.keys(OBJECTIVES).join(";");
const { values: flags } = parseArgs({
  options: {
    objectives: { type: "string", default: all },
    seeds: { type: "string", default: "3" },
    batches: { type: "string", default: "20" },
    dir: { type: "string" },
    smoke: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const named = flags.smoke ? ["grpo"] : flags.objectives.split(";");
const chosen = named.filter((name) => OBJECTIVES[name] !== undefined);
const unknown = named.find((name) => OBJECTIVES[name] === undefined && VARIANTS[name] === undefined);
if (unknown !== undefined || chosen.length === 0) {
  const known = [...Object.keys(OBJECTIVES), ...Object.keys(VARIANTS)].join("; ");
  console.error(
    unknown === undefined
      ? `${named.join("; ")}: only gradients are compared of these; name one of ${all.replaceAll(";", "; ")} too`
      : `no objective is called ${unknown}; there are ${known}`,
  );
  process.exit(2);
}
const seeds = Array.from({ length: flags.smoke ? 1 : Number(flags.seeds) }, (_, seed) => seed);
const batches = flags.smoke ? 2 : Number(flags.batches);

const done = (result) => {
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exit(0);
};
if (python === undefined || spawnSync(python, ["-c", "import trl"]).status !== 0)
  done({ rows: [], missing: `HONE_PEERS is ${python ?? "not set"}; it names a Python with torch and trl` });

const dir = path.resolve(flags.dir ?? mkdtempSync(path.join(tmpdir(), "hone-trl-")));
const at = (...names) => path.join(dir, ...names);
const rewards = path.join(root, "bench/trl-rewards.py");
const json = (file) => JSON.parse(readFileSync(file, "utf8"));
const lines = (file) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/**
 * Prints what the system counted for a command: processor seconds, and the peak resident MiB of its largest process.
 */
const COUNTED = `import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
sys.exit(status)`;

/** Runs a command on one thread; returns what it used, with the processes that it waited for. */
function counted(command, argv) {
  const env = { ...process.env, HONE_THREADS: "1", OMP_NUM_THREADS: "1", TOKENIZERS_PARALLELISM: "false" };
  const words = ["-c", COUNTED, command, ...argv];
  const ran = spawnSync(python, words, { cwd: root, env, encoding: "utf8", maxBuffer: 1 << 28 });
  if (ran.status !== 0) throw new Error(`${command} ${argv.join(" ")}\n${ran.stderr.slice(-4000)}`);
  const [seconds, peak] = ran.stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return { seconds, peak };
}

const hone = (...argv) => counted(process.execPath, [path.join(root, "dist/lib/cli/main.js"), ...argv]);

/** Runs a recipe in a folder of its own and exports the weights. */
function train(name, recipe) {
  mkdirSync(at(name), { recursive: true });
  const file = at(name, "recipe.json");
  writeFileSync(file, JSON.stringify({ name: "trl-peer", ...recipe }, null, 2));
  const used = hone("run", file, "--dir", at(name, "run"), "--overwrite");
  hone("export", "--run", at(name, "run"), "--out", at(name, "model"), "--force");
  return used;
}

/**
 * Makes the quick start's weights after its warm start; the tokens of its thought are declared as Qwen3's are, as words
 * of a text.
 */
function makeModel() {
  const argv = ["dist/recipes/quickstart.js", "--dir", at("start"), "--set", "training.steps=0"];
  counted(process.execPath, [...argv, "--set", "evaluation.problemsPerDomain=1"]);
  hone("export", "--run", at("start"), "--out", at("model"), "--force");
  const file = at("model", "tokenizer.json");
  const tokenizer = json(file);
  for (const token of tokenizer.added_tokens) if (token.content.includes("think")) token.special = false;
  writeFileSync(file, JSON.stringify(tokenizer));
}

/** Chains of 2, 4 or 6 operations modulo 5, as the quick start asks them; 768 to train on, 256 held out. */
function makeRows() {
  const random = new CounterRandom(1, 0x74726c);
  const rows = new Map();
  while (rows.size < 1024) {
    const start = random.int(0, 4);
    const steps = Array.from({ length: 2 * random.int(1, 3) }, () => [random.choice("+*"), random.int(1, 4)]);
    const value = steps.reduce((x, [operator, y]) => (operator === "+" ? x + y : x * y) % 5, start);
    const content = `Apply to ${start}: ${steps.map(([operator, y]) => operator + y).join(" ")} mod 5`;
    rows.set(content, { prompt: [{ role: "user", content }], answer: String(value) });
  }
  const all = [...rows.values()].map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(at("train.jsonl"), all.slice(0, 768).join(""));
  writeFileSync(at("held-out.jsonl"), all.slice(768).join(""));
}

const given = { model: at("model"), teacher: at("teacher/model"), rows: at("train.jsonl"), rewards, python };

/** The score of a model folder on the held-out rows, with four answers each. */
function heldOut(name, model) {
  const recipe = honeRecipe(OBJECTIVES.grpo, { ...given, model }, 0, 0);
  const set = {
    source: { kind: "jsonl", path: at("held-out.jsonl") },
    reward: { python: `${rewards}#right` },
  };
  recipe.evaluation.sets = { rows: { ...set, problems: 256, attempts: 4 } };
  const file = at(`${name}.json`);
  writeFileSync(file, JSON.stringify({ name: "trl-peer", ...recipe }));
  hone("run", file, "--dir", at(name), "--overwrite");
  return json(at(name, "summary.json")).after[0].sets.rows.score;
}

/** Returns what `make` returns, and keeps it in a file, so that an interrupted bench goes on from there. */
function kept(name, make) {
  const file = at(`${name}.result.json`);
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true });
    const result = make();
    writeFileSync(file, JSON.stringify(result));
    process.stderr.write(
      `${name} ${JSON.stringify({ ...result, curve: undefined, clipped: undefined, hone: undefined, trl: undefined })}\n`,
    );
  }
  return json(file);
}

const slug = (name) => name.replaceAll(/\W+/g, "-");

function ofHone(name, seed) {
  const objective = OBJECTIVES[name];
  const folder = `${slug(name)}/hone-${seed}`;
  return kept(folder, () => {
    const { seconds } = train(folder, honeRecipe(objective, given, batches, seed));
    const { curve: metric = objective.teacher ? "kl/teacher/k1" : "score/mean" } = objective.hone;
    const steps = lines(at(folder, "run/steps.jsonl")).map(({ metrics }) => metrics);
    const [curve, clipped] = [metric, "clip/tokens"].map((of) => steps.map((metrics) => metrics[of] ?? 0));
    return { seconds, curve, clipped, after: heldOut(`${folder}/held-out`, at(folder, "model")) };
  });
}

/** Runs bench/trl-run.py and returns the time and memory it used; its results are in the folder. */
function trl(what, objective, folder, seed, { batches: count = batches, ...more }) {
  const { trainer, reward = "right" } = objective.trl;
  const args = trlArguments(objective, count, seed);
  const teacher = objective.teacher && { teacher: given.teacher };
  const { model, rows } = given;
  const task = {
    do: what,
    trainer,
    args,
    model,
    rows,
    rewards,
    reward,
    out: at(folder),
    ...teacher,
    ...more,
  };
  return counted(python, [path.join(root, "bench/trl-run.py"), JSON.stringify(task)]);
}

function ofTrl(name, seed) {
  const objective = OBJECTIVES[name];
  const folder = `${slug(name)}/trl-${seed}`;
  return kept(folder, () => {
    const { seconds } = trl("train", objective, folder, seed, { log: objective.teacher ? "loss" : "reward" });
    const after = heldOut(`${folder}/held-out`, at(folder, "model"));
    return { seconds, ...json(at(folder, "result.json")), after };
  });
}

const WEIGHED = 3;

/** Peak memory of Hone's run and of TRL's process over a few batches of the first seed, in MiB. */
function memoryOf(name) {
  const objective = OBJECTIVES[name];
  const folder = `${slug(name)}/memory`;
  return kept(folder, () => ({
    peak: {
      hone: train(`${folder}/hone`, honeRecipe(objective, given, WEIGHED, 0)).peak,
      trl: trl("train", objective, `${folder}/trl`, 0, {
        log: objective.teacher ? "loss" : "reward",
        batches: WEIGHED,
      }).peak,
    },
  }));
}

const RECORDED = 5;

/** The tokens that a step trained on, its loss, and the norm of its gradient before the clip. */
function recorded(folder, step) {
  const argv = [
    path.join(root, "dist/lib/cli/main.js"),
    "rollouts",
    folder,
    "--step",
    String(step),
    "--json",
  ];
  const { stdout } = spawnSync(process.execPath, argv, { encoding: "utf8", maxBuffer: 1 << 28 });
  const [{ trained }, ...groups] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rollouts = groups.flatMap(({ prompt, rollouts }) =>
    rollouts.map(({ tokens, logprobs, advantage, reference }) => ({
      prompt,
      tokens,
      logprobs,
      advantage,
      ...(reference && { reference }),
    })),
  );
  return { loss: trained.loss, norm: trained.gradNorm, rollouts };
}

/** Losses and norms of gradients of a run's batches by Hone, and by TRL's own loss under the same weights. */
function gradientsOf(name, objective) {
  const folder = `${slug(name)}/gradients`;
  return kept(folder, () => {
    const once = { ...objective, updates: 1, epochs: 1 };
    train(folder, recordedRecipe(once, given, RECORDED));
    const run = at(folder, "run");
    const steps = Array.from({ length: RECORDED }, (_, i) => recorded(run, i + 1));
    writeFileSync(at(folder, "steps.json"), JSON.stringify(steps.map(({ rollouts }) => rollouts)));
    const before = steps.map((_, i) =>
      i === 0 ? given.model : path.join(run, `checkpoints/step-${String(i).padStart(6, "0")}`),
    );
    trl("gradients", once, folder, 0, { steps: at(folder, "steps.json"), checkpoints: before });
    const metrics = lines(path.join(run, "steps.jsonl")).map((step) => step.metrics);
    const lag = metrics.map((of) => of["lag/mean"]);
    const clipped = metrics.map((of) => of["clip/tokens"] ?? 0);
    const ours = steps.map(({ loss, norm }) => ({ loss, norm }));
    return { lag, clipped, hone: ours, trl: json(at(folder, "result.json")) };
  });
}

mkdirSync(dir, { recursive: true });
kept("made", () => {
  makeModel();
  makeRows();
  return { before: heldOut("before", at("model")) };
});
const before = json(at("made.result.json")).before;
if (chosen.some((name) => OBJECTIVES[name].teacher))
  kept("teacher", () => {
    train("teacher", honeRecipe({ ...OBJECTIVES["dapo, 4 updates"], lr: 3e-4 }, given, 60, 100));
    return { after: heldOut("teacher/held-out", given.teacher) };
  });
// One seed after another, so that an interrupted bench has results of all objectives
const runs = seeds.map((seed) =>
  chosen.map((name) => ({ hone: ofHone(name, seed), trl: ofTrl(name, seed) })),
);
const results = chosen.map((name, i) => ({
  name,
  hone: runs.map((ofSeed) => ofSeed[i].hone),
  trl: runs.map((ofSeed) => ofSeed[i].trl),
  ...memoryOf(name),
  gradients: OBJECTIVES[name].teacher ? undefined : gradientsOf(name, OBJECTIVES[name]),
}));
const variants = Object.keys(VARIANTS)
  .filter((name) => named.includes(name) || (!flags.smoke && flags.objectives === all))
  .map((name) => ({ name, gradients: gradientsOf(name, VARIANTS[name]) }));
const machine = { cpu: cpus()[0]?.model, node: process.version, ...results[0].trl[0].versions };
const teacher = existsSync(at("teacher.result.json")) ? json(at("teacher.result.json")).after : undefined;
const facts = { date: new Date().toISOString(), machine, batches, seeds, before, teacher };
const isWhole = !flags.smoke && flags.objectives === all && seeds.length === 3;
const rows = writeReport({
  facts,
  results,
  variants,
  folder: isWhole ? path.join(root, "bench/results") : dir,
});
if (flags.dir === undefined) rmSync(dir, { recursive: true });
done({ ...machine, rows });
