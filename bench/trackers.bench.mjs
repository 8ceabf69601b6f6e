// Measures what trackers cost a run: a small run reports to MLflow, OTLP and JSONL, with servers that answer after 200
// ms or with unreachable servers, and runs without trackers, in turns. The runs are synchronous and do the same work
// each time. --smoke: one short turn.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const TURNS = smoke ? 1 : 5;
const SLOW_MS = smoke ? 20 : 200;
/** No server listens at this address. */
const NOBODY = "http://127.0.0.1:9";
const KINDS = ["none", "slow", "down"];
const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-trackers-"));

/** Gives MLflow's answers, and an empty answer to other requests, each after a delay. */
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const isNew = request.url.endsWith("runs/create") || request.url.includes("runs/get");
    const run = { info: { run_id: "r", experiment_id: "1", status: "RUNNING" }, data: {} };
    const found = { experiment: { experiment_id: "1" }, experiment_id: "1", ...(isNew && { run }) };
    requests += 1;
    setTimeout(
      () => response.setHeader("content-type", "application/json").end(JSON.stringify(found)),
      SLOW_MS,
    );
  });
});
let requests = 0;
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const SLOW = `http://127.0.0.1:${server.address().port}`;

const trackersAt = (url) => [
  { kind: "mlflow", url, experiment: "bench" },
  { kind: "otlp", url },
  { kind: "jsonl", path: path.join(folder, "lines.jsonl") },
];

function recipe(kind) {
  const trackers = { none: [], slow: trackersAt(SLOW), down: trackersAt(NOBODY) }[kind];
  const domains = {
    math: { weight: 1, source: "procedural/math" },
    logic: { weight: 1, source: "procedural/logic" },
  };
  const whole = {
    name: "trackers",
    model: { config: { width: 128, layers: 2, heads: 4, mlpWidth: 256, maxPositions: 128 } },
    domains,
    rollouts: { groupSize: 8, maxOutputTokens: 64, maxPromptTokens: 48 },
    lengthPenalty: { bufferTokens: 32 },
    training: { steps: smoke ? 3 : 40, groupsPerStep: 8, schedule: "sync" },
    checkpoint: { everySteps: 0 },
    trackers,
  };
  const file = path.join(folder, `${kind}.mjs`);
  const hone = JSON.stringify(path.join(root, "dist/lib/index.js"));
  writeFileSync(
    file,
    `import { createRun, defineRecipe } from ${hone};
const run = await createRun(defineRecipe(${JSON.stringify(whole)}), { dir: process.argv[2] });
await run.finished;
await run[Symbol.asyncDispose]();
process.stdout.write(JSON.stringify(process.cpuUsage()));`,
  );
  return file;
}
const files = Object.fromEntries(KINDS.map((kind) => [kind, recipe(kind)]));

/**
 * The wall seconds of all steps except the first, whose time includes starting everything, and the process's
 * processor seconds.
 */
async function run(kind) {
  const dir = mkdtempSync(path.join(folder, "run-"));
  const child = spawn(process.execPath, [files[kind], dir], { cwd: root });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  let complaint = "";
  child.stderr.on("data", (data) => (complaint += data));
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`the run with trackers "${kind}" ended with ${status}:\n${complaint}`);
  const { user, system } = JSON.parse(said);
  const lines = readFileSync(path.join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  const steps = lines.slice(1).map((line) => JSON.parse(line).metrics);
  const wall = steps.reduce((sum, metrics) => sum + metrics["time/step"], 0);
  return { wall, steps: steps.length, processor: (user + system) / 1e6, last: steps.at(-1) };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const turns = [];
for (let i = 0; i < TURNS; i++) {
  const order = KINDS.map((_, k) => KINDS[(k + i) % KINDS.length]);
  const turn = {};
  for (const kind of order) turn[kind] = await run(kind);
  turns.push(turn);
}
server.close();
rmSync(folder, { recursive: true, force: true });
if (requests === 0) throw new Error("no tracker sent anything");
if (!turns.every(({ down }) => down.last["tracker/waiting/mlflow"] > 0))
  throw new Error("what a server that is down does not take must wait");

const each = (kind, of) => median(turns.map((turn) => turn[kind][of]));
const added = (kind, of) => median(turns.map((turn) => turn[kind][of] / turn.none[of] - 1));
/** The milliseconds of processor time that trackers add to a step, including the time to close them. */
const more = (kind) => (1000 * (each(kind, "processor") - each("none", "processor"))) / each("none", "steps");
const rows = [
  { name: "added to the wall time of steps, 200 ms", value: added("slow", "wall") },
  { name: "added to the wall time of steps, none there", value: added("down", "wall") },
  { name: "ms of processor time a step, 200 ms", value: more("slow"), ceiling: 25 },
  { name: "ms of processor time a step, none there", value: more("down"), ceiling: 25 },
  { name: "ms of a step without, wall", value: (1000 * each("none", "wall")) / each("none", "steps") },
];
process.stdout.write(`${JSON.stringify({ turns: TURNS, requests, rows })}\n`);
