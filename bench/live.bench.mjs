// Measures what `--live` costs while its page is open. The server is a separate process: its processor time, start
// included, is compared with that of one whole quick start, during which a user also searches completions every ten
// seconds. Wall time on shared cores drifts by more than the effect: so in short synchronous runs the page is opened
// and closed every few steps, and each stretch is compared with the stretches before and after it. --smoke: one short
// run of each.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const RUNS = smoke ? 1 : 6;
const STEPS = smoke ? 8 : 64;
/** The page is open for this many steps, and then closed for as many. */
const STRETCH = smoke ? 2 : 4;
const SEARCH_MS = smoke ? 200 : 10_000;
const LOOK_MS = 20;
const CHART_COLUMNS = 40;
const SHORT = [
  "training.schedule=sync",
  `training.steps=${STEPS}`,
  `warmStart.steps=${smoke ? 4 : 60}`,
  "evaluation.everySteps=0",
  "evaluation.problemsPerDomain=4",
  ...(smoke ? ["training.groupsPerStep=8"] : []),
];

/**
 * A client that the server takes for a page: it requests the charts' columns and follows the events, but reads almost
 * nothing of the answers.
 */
class OpenPage {
  #stream;

  /** @param address as the command prints it */
  constructor(address) {
    const { origin, searchParams } = new URL(address);
    this.origin = origin;
    this.headers = { "x-hone-token": searchParams.get("token") };
  }

  async open() {
    const { cursor, runs } = JSON.parse(await this.ask("overview"));
    const names = runs[0].names.slice(0, CHART_COLUMNS).map((name) => `&name=${encodeURIComponent(name)}`);
    await this.ask(`series?run=0${names.join("")}`);
    const url = `${this.origin}/api/events?from=${encodeURIComponent(cursor)}`;
    this.#stream = get(url, { headers: this.headers }, (events) => events.resume().on("error", () => {}));
    this.#stream.on("error", () => {});
  }

  close() {
    this.#stream?.destroy();
    this.#stream = undefined;
  }

  ask(what) {
    return new Promise((resolve, reject) => {
      get(`${this.origin}/api/${what}`, { headers: this.headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part) => (text += part));
        answer.on("end", () => resolve(text)).on("error", reject);
      }).on("error", reject);
    });
  }
}

/** The processor seconds that a process has used so far; for one that has ended, the value known before. */
function processorOf(pid, before) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return before;
  }
}

/** The process that serves the page; the run has started it. */
function serverOf(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("\0--coming\0"));
  } catch {
    return undefined;
  }
}

const stepsOf = (dir) => {
  const file = path.join(dir, "steps.jsonl");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : [];
};

/** @param look called repeatedly with the page and the folder */
async function run(settings, look) {
  const dir = mkdtempSync(path.join(tmpdir(), "hone-bench-live-"));
  const sets = settings.flatMap((setting) => ["--set", setting]);
  const args = ["dist/lib/cli/main.js", "run", "recipes/quickstart.ts", "--dir", dir, "--overwrite", ...sets];
  const child = spawn(process.execPath, [...args, "--live"], { cwd: root });
  let [own, server, said, pid, page] = [0, 0, ""];
  const looking = setInterval(() => {
    own = processorOf(child.pid, own);
    pid ??= serverOf(child.pid);
    if (pid !== undefined) server = processorOf(pid, server);
    if (page !== undefined) look(page, dir);
  }, LOOK_MS);
  const hear = (data) => {
    said += data;
    const address = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(said)?.[0];
    if (address !== undefined) page ??= new OpenPage(address);
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(looking);
  page?.close();
  if (status !== 0 || page === undefined || server === 0)
    throw new Error(`hone run ended with ${status}:\n${said}`);
  const seconds = stepsOf(dir).map((line) => JSON.parse(line).metrics["time/step"]);
  rmSync(dir, { recursive: true, force: true });
  return { own, server, seconds };
}

/** Opens the page in every second stretch of steps. */
function inStretches() {
  let [before, size] = [-1, 0];
  return (page, dir) => {
    const now = statSync(path.join(dir, "steps.jsonl"), { throwIfNoEntry: false })?.size ?? 0;
    if (now === size) return;
    size = now;
    const stretch = Math.floor(stepsOf(dir).length / STRETCH);
    if (stretch === before) return;
    before = stretch;
    if (stretch % 2 === 1) page.open().catch(() => {});
    else page.close();
  };
}

let searches = 0;
/** Opens the page once, and searches completions at intervals. */
function throughout() {
  let next = 0;
  return (page) => {
    if (performance.now() < next) return;
    if (next === 0) page.open().catch(() => {});
    else
      page.ask("samples?run=0&limit=40").then(
        () => (searches += 1),
        () => {},
      );
    next = performance.now() + SEARCH_MS;
  };
}

/**
 * What an open page adds to each stretch, compared with its neighbours. The first and the last stretch have only one
 * neighbour.
 */
function addedIn(seconds) {
  const sums = [];
  for (let i = 0; i < seconds.length; i += STRETCH)
    sums.push(seconds.slice(i, i + STRETCH).reduce((a, b) => a + b, 0));
  return sums.slice(1, -1).flatMap((sum, i) => {
    const ratio = (2 * sum) / (sums[i] + sums[i + 2]);
    const isOpen = i % 2 === 0;
    return i === 0 ? [] : [isOpen ? ratio - 1 : 1 / ratio - 1];
  });
}

const sorted = (values) => values.sort((a, b) => a - b);
const added = [];
for (let i = 0; i < RUNS; i++) added.push(...addedIn((await run(SHORT, inStretches())).seconds));
const whole = await run(smoke ? SHORT : [], throughout());
if (searches === 0) throw new Error("nobody searched completions");
const at = (share) => sorted(added)[Math.floor(share * (added.length - 1))];
const rows = [
  {
    name: "processor time of the page's process, share of the whole quick start's",
    value: whole.server / whole.own,
    ceiling: 0.02,
  },
  { name: "processor seconds of the quick start's own process", value: whole.own },
  { name: "an open page adds to the wall time of steps", value: at(0.5), ceiling: 0.02 },
  { name: "the same, first quartile of the stretches", value: at(0.25) },
  { name: "the same, third quartile", value: at(0.75) },
];
process.stdout.write(`${JSON.stringify({ stretches: added.length, searches, rows })}\n`);
