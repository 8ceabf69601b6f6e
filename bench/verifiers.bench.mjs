// Verdicts per second of processor time of this process and those it started (sandboxes): one row for each domain, and
// for code one for each working sandbox. Each case reads the reference and judges the response on this thread, as a
// worker does for a group of one. Cases come from the acceptance data in HONE_SHARED (or ../shared), or else are
// generated. The median of several passes after a cold one; --smoke: one pass over a few cases.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CASE_SOURCES } from "./verifier-cases.mjs";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const built = (file) => import(pathToFileURL(path.join(root, "dist/lib", file)).href);
const { loadBuiltIn, loadCaseReader } = await built("domains/index.js");
const data = path.resolve(root, process.env.HONE_SHARED ?? "../shared", "reference/data");

/** Chooses at most `most` items, evenly over the whole list. */
function sample(all, most) {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(all.length, most) }, (_, i) => all[Math.floor(i * step)]);
}

/** The cases { verifier, completion, reference }, and where they come from. */
async function casesOf({ domain, file, made, most = 1000 }) {
  const at = path.join(data, file);
  const count = smoke ? Math.min(most, 10) : most;
  if (existsSync(at)) {
    const lines = sample(readFileSync(at, "utf8").trim().split("\n"), count);
    const read = await loadCaseReader(domain);
    const cases = lines.map((line) => read(JSON.parse(line), path.dirname(at), line));
    return { cases: await Promise.all(cases), from: path.basename(file, ".jsonl") };
  }
  const cases = sample(made(), count).map(async ({ verifier, reference, text }) => ({
    verifier: await loadBuiltIn(verifier),
    completion: { text, finish: "stop" },
    reference,
  }));
  return { cases: await Promise.all(cases), from: `made, ${path.basename(file, ".jsonl")}` };
}

/** Milliseconds of processor time of all processes that this one started, including ended ones, in ticks of 10. */
function startedMs() {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
        return [{ pid: Number(pid), parent: Number(fields[1]), ticks: fields.slice(11, 15).map(Number) }];
      } catch {
        return []; // gone
      }
    });
  const ours = new Set([process.pid]);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const { pid, parent } of processes) if (ours.has(parent)) ours.add(pid);
  }
  ours.delete(process.pid);
  const ticks = processes.filter(({ pid }) => ours.has(pid)).flatMap((one) => one.ticks);
  return 10 * ticks.reduce((sum, ms) => sum + ms, 0);
}

const spentMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000 + startedMs();

async function rate(cases) {
  const begun = spentMs();
  for (const { verifier, completion, reference } of cases)
    await verifier.verify(completion, verifier.parseReference(reference));
  return (1000 * cases.length) / (spentMs() - begun);
}

/** The sandboxes that work on this machine, by name, each with a verifier that uses it. */
async function sandboxes() {
  const { codeVerifier } = await built("domains/code/verify.js");
  const drivers = [
    new (await built("sandbox/bubblewrap.js")).BubblewrapSandbox(),
    new (await built("sandbox/pyodide.js")).PyodideSandbox(),
  ];
  const found = [];
  for (const driver of drivers) {
    const readiness = await driver.probe();
    if (readiness.usable) found.push({ name: driver.name, verifier: codeVerifier(async () => driver) });
    else console.error(`no row for ${driver.name}: ${readiness.why}`);
  }
  return found;
}

const rows = [];
async function measure(name, cases, { most, floor }) {
  const cold = await rate(cases);
  const passes = [];
  for (let i = 0; i < (smoke || most ? 1 : 5); i++) passes.push(await rate(cases));
  const value = passes.sort((a, b) => a - b)[Math.floor(passes.length / 2)];
  rows.push({ name, value, ...(floor === undefined ? {} : { floor }), cold, cases: cases.length });
}

for (const source of CASE_SOURCES) {
  const { cases, from } = await casesOf(source);
  for (const name of new Set(cases.map(({ verifier }) => verifier.name))) await loadBuiltIn(name);
  if (source.floors === undefined) {
    await measure(`${source.domain} (${from})`, cases, source);
    continue;
  }
  for (const { name, verifier } of await sandboxes()) {
    const within = cases.map((one) => ({ ...one, verifier }));
    await measure(`${source.domain} (${from}, ${name})`, within, { ...source, floor: source.floors[name] });
  }
}
process.stdout.write(`${JSON.stringify({ unit: "verdicts per second of processor time", rows })}\n`);
process.exit(0); // a sandbox may keep a worker alive
