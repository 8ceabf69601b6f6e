// What `--live` costs: runs of the quick start's shape with the page, which a reader looks at (its events, and every chart
// anew twice a second), and without, in turns. The server is a process of its own: what is compared is the wall time of
// the same steps, and processor time of everything. Synchronous runs, which do the same work each time. --smoke: one short pair.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const PAIRS = smoke ? 1 : 8;
const LOOK_MS = 500;
const SETTINGS = [
  "training.schedule=sync",
  `training.steps=${smoke ? 3 : 40}`,
  "warmStart.steps=60",
  "evaluation.everySteps=0",
  "evaluation.problemsPerDomain=4",
];

/** Processor seconds of the processes that this one has waited for, and of those that they have. */
function waitedFor() {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

let looks = 0;
/** Follows the page's events and asks for all charts every now and then, as a page that is open does. */
async function look(address, signal) {
  const { origin, searchParams } = new URL(address);
  const token = searchParams.get("token");
  const ask = (what) => fetch(`${origin}/api/${what}`, { headers: { "x-hone-token": token }, signal });
  const { cursor } = await (await ask("overview")).json();
  const events = await fetch(`${origin}/api/events?token=${token}&from=${encodeURIComponent(cursor)}`, {
    signal,
  });
  const reading = (async () => {
    for await (const _ of events.body);
  })();
  reading.catch(() => {});
  while (!signal.aborted) {
    await (await ask("series?run=0")).text();
    await (await ask("samples?run=0&limit=40")).text();
    looks += 1;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function run(live) {
  const dir = mkdtempSync(path.join(tmpdir(), "hone-bench-live-"));
  const before = waitedFor();
  const sets = SETTINGS.flatMap((setting) => ["--set", setting]);
  const args = ["dist/lib/cli/main.js", "run", "recipes/quickstart.ts", "--dir", dir, "--overwrite", ...sets];
  const child = spawn(process.execPath, [...args, ...(live ? ["--live"] : [])], { cwd: root });
  const gone = new AbortController();
  let said = "";
  let looking;
  const hear = (data) => {
    said += data;
    const address = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(said)?.[0];
    if (live && address !== undefined) looking ??= look(address, gone.signal).catch(() => {});
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const status = await new Promise((resolve) => child.once("close", resolve));
  gone.abort();
  if (status !== 0 || (live && looking === undefined))
    throw new Error(`hone run ended with ${status}:\n${said}`);
  await looking;
  const steps = readFileSync(path.join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  rmSync(dir, { recursive: true, force: true });
  // the first step includes starting everything
  const wall = steps.slice(1).reduce((sum, line) => sum + JSON.parse(line).metrics["time/step"], 0);
  return { wall, processor: waitedFor() - before };
}

const pairs = [];
for (let i = 0; i < PAIRS; i++) {
  const first = await run(i % 2 === 0);
  const second = await run(i % 2 !== 0);
  pairs.push(i % 2 === 0 ? { live: first, plain: second } : { live: second, plain: first });
}
if (looks === 0) throw new Error("nobody looked at the page");
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const added = (of) => median(pairs.map(({ live, plain }) => live[of] / plain[of] - 1));
const rows = [
  {
    name: "what --live adds to the wall time of steps, a reader looking",
    value: added("wall"),
    ceiling: 0.02,
  },
  { name: "seconds of the steps without", value: median(pairs.map(({ plain }) => plain.wall)) },
  { name: "what it adds to processor time, page and all", value: added("processor") },
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
