// Verdicts per second of one core, a domain a row: the built verifiers on this thread, each time reading the
// reference and judging the response, as a worker does for a group of one. Cases are those of the acceptance data
// where HONE_SHARED (or ../shared) has them, made ones elsewhere. The median of several passes after a cold one;
// --smoke: one pass over a few cases.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CASE_SOURCES } from "./verifier-cases.mjs";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const rewards = path.join(root, "dist/lib/rewards/index.js");
const { CASE_READERS, loadBuiltIn } = await import(pathToFileURL(rewards).href);
const data = path.resolve(root, process.env.HONE_SHARED ?? "../shared", "reference/data");

/** Evenly from the whole list, at most `most`. */
function sample(all, most) {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(all.length, most) }, (_, i) => all[Math.floor(i * step)]);
}

/** Cases { verifier, completion, reference } and where they are from. */
async function casesOf({ domain, file, made, most = 1000 }) {
  const at = path.join(data, file);
  const count = smoke ? Math.min(most, 10) : most;
  if (existsSync(at)) {
    const lines = sample(readFileSync(at, "utf8").trim().split("\n"), count);
    const read = CASE_READERS.get(domain);
    const cases = lines.map((line) => read(JSON.parse(line), "strict", path.dirname(at)));
    return { cases: await Promise.all(cases), from: path.basename(file, ".jsonl") };
  }
  const cases = sample(made(), count).map(async ({ verifier, reference, text }) => ({
    verifier: await loadBuiltIn(verifier),
    completion: { text, finish: "stop" },
    reference,
  }));
  return { cases: await Promise.all(cases), from: `made, ${path.basename(file, ".jsonl")}` };
}

async function rate(cases) {
  const begun = performance.now();
  for (const { verifier, completion, reference } of cases)
    await verifier.verify(completion, verifier.parseReference(reference));
  return (1000 * cases.length) / (performance.now() - begun);
}

const rows = [];
for (const source of CASE_SOURCES) {
  const { cases, from } = await casesOf(source);
  for (const name of new Set(cases.map(({ verifier }) => verifier.name))) await loadBuiltIn(name);
  const cold = await rate(cases);
  const passes = [];
  for (let i = 0; i < (smoke || source.most ? 1 : 5); i++) passes.push(await rate(cases));
  const value = passes.sort((a, b) => a - b)[Math.floor(passes.length / 2)];
  const floor = source.floor === undefined ? {} : { floor: source.floor };
  rows.push({ name: `${source.domain} (${from})`, value, ...floor, cold, cases: cases.length });
}
process.stdout.write(`${JSON.stringify({ unit: "verdicts per second of one core", rows })}\n`);
process.exit(0); // a sandbox may keep a worker alive
