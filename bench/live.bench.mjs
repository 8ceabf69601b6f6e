// What `--live` costs with a page open: its charts follow the events, and somebody searches completions every ten
// seconds. The server is a process of its own. Its processor time, start and all, is held against that of one whole
// quick start. Wall time on shared cores needs many pairs: short synchronous runs with the page and without, in turns,
// which do the same work, compared step by step. --smoke: one short pair.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const PAIRS = smoke ? 1 : 6;
const SEARCH_MS = smoke ? 500 : 10_000;
const CHART_COLUMNS = 40;
const SAMPLE_MS = 50;
const SHORT = [
  `training.steps=${smoke ? 3 : 40}`,
  "warmStart.steps=60",
  "evaluation.everySteps=0",
  "evaluation.problemsPerDomain=4",
];

let searches = 0;
/** What a browser does that has the charts open, and a person who looks at completions now and then. */
async function look(address, signal) {
  const { origin, searchParams } = new URL(address);
  const token = searchParams.get("token");
  const ask = (what) => fetch(`${origin}/api/${what}`, { headers: { "x-hone-token": token }, signal });
  const { cursor, runs } = await (await ask("overview")).json();
  const events = await fetch(`${origin}/api/events?token=${token}&from=${encodeURIComponent(cursor)}`, {
    signal,
  });
  const reading = (async () => {
    for await (const _ of events.body);
  })();
  reading.catch(() => {});
  const columns = runs[0].names.slice(0, CHART_COLUMNS).map((name) => `&name=${encodeURIComponent(name)}`);
  await (await ask(`series?run=0${columns.join("")}`)).text();
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, SEARCH_MS));
    await (await ask("samples?run=0&limit=40")).text();
    searches += 1;
  }
}

/** Processor seconds of a process so far; of one that has ended, what was known before. */
function processorOf(pid, before) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return before;
  }
}

/** The process that serves the page, which the run started. */
function pageOf(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("\0--coming\0"));
  } catch {
    return undefined;
  }
}

async function run(live, settings) {
  const dir = mkdtempSync(path.join(tmpdir(), "hone-bench-live-"));
  const sets = settings.flatMap((setting) => ["--set", setting]);
  const args = ["dist/lib/cli/main.js", "run", "recipes/quickstart.ts", "--dir", dir, "--overwrite", ...sets];
  const child = spawn(process.execPath, [...args, ...(live ? ["--live"] : [])], { cwd: root });
  const gone = new AbortController();
  let [own, server, said, page, looking] = [0, 0, ""];
  const sampling = setInterval(() => {
    own = processorOf(child.pid, own);
    if (live) page ??= pageOf(child.pid);
    if (page !== undefined) server = processorOf(page, server);
  }, SAMPLE_MS);
  const hear = (data) => {
    said += data;
    const address = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(said)?.[0];
    if (live && address !== undefined) looking ??= look(address, gone.signal).catch(() => {});
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(sampling);
  gone.abort();
  if (status !== 0 || (live && (looking === undefined || server === 0)))
    throw new Error(`hone run ended with ${status}:\n${said}`);
  const lines = readFileSync(path.join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  rmSync(dir, { recursive: true, force: true });
  // the first step includes starting everything
  return { own, server, steps: lines.slice(1).map((line) => JSON.parse(line).metrics["time/step"]) };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const pairs = [];
for (let i = 0; i < PAIRS; i++) {
  const settings = ["training.schedule=sync", ...SHORT];
  const first = await run(i % 2 === 0, settings);
  const second = await run(i % 2 !== 0, settings);
  pairs.push(i % 2 === 0 ? { live: first, plain: second } : { live: second, plain: first });
}
const whole = await run(true, smoke ? SHORT : []);
if (searches === 0) throw new Error("nobody looked at completions");
const rows = [
  {
    name: "processor time of the page's process, share of the whole quick start's",
    value: whole.server / whole.own,
    ceiling: 0.02,
  },
  { name: "processor seconds of the quick start's own process", value: whole.own },
  {
    name: "added to the wall time of a step",
    value: median(pairs.flatMap(({ live, plain }) => live.steps.map((s, i) => s / plain.steps[i] - 1))),
    ceiling: 0.02,
  },
  {
    name: "added to the processor time of the run's own process",
    value: median(pairs.map(({ live, plain }) => live.own / plain.own - 1)),
  },
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
