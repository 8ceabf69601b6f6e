// Measures what a million rows of 440 bytes cost before step 1: `hone run` with the quick start's kind of model, from
// the start of its process until the last row is read. HONE_BENCH_ROWS=FILE[,FILE] uses these files instead (parquet,
// .zst). --smoke: ten thousand rows.
import { spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const ROWS = smoke ? 10_000 : 1_000_000;
const WORDS = 56;
const CEILINGS = { seconds: 5, MiB: 200 };

const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-rows-"));

/** Generated words of two to nine letters, the same in every run. */
function* words() {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state.toString(36).slice(0, 2 + (state >>> 29));
  }
}

async function write(name, line, head = "") {
  const file = path.join(folder, name);
  const out = name.endsWith(".gz") ? createGzip({ level: 1 }) : createWriteStream(file);
  const end = name.endsWith(".gz") ? out.pipe(createWriteStream(file)) : out;
  const source = words();
  const some = (n) => Array.from({ length: n }, () => source.next().value).join(" ");
  out.write(head);
  for (let i = 0; i < ROWS; i++)
    if (!out.write(line(`${some(WORDS)} ${i}?`, `${some(12)}\n#### ${i}`)))
      await new Promise((resolve) => out.once("drain", resolve));
  out.end();
  await finished(end);
  return file;
}

const asJson = (question, answer) => `${JSON.stringify({ question, answer })}\n`;
const FORMATS = {
  "rows.jsonl": () => write("rows.jsonl", asJson),
  "rows.jsonl.gz": () => write("rows.jsonl.gz", asJson),
  "rows.csv": () => write("rows.csv", (question, answer) => `${question},"${answer}"\n`, "question,answer\n"),
};

/** A module that prints the time when all rows are read, and ends the process. */
const LISTENER = `data:text/javascript,${encodeURIComponent(`
import { subscribe } from "node:diagnostics_channel";
import { writeSync } from "node:fs";
subscribe("hone:rows-read", ({ rows, share }) => {
  if (share < 1) return;
  const { user, system } = process.cpuUsage();
  const cost = { rows, seconds: performance.now() / 1e3, cpuSeconds: (user + system) / 1e6, MiB: process.resourceUsage().maxRSS / 1024 };
  writeSync(2, "cost " + JSON.stringify(cost) + "\\n");
  process.exit(0);
});`)}`;

function costOf(file) {
  const recipe = path.join(folder, "recipe.mjs");
  writeFileSync(
    recipe,
    `import { defineRecipe } from "hone-rl";
export default defineRecipe({
  name: "rows",
  model: { config: { width: 64, layers: 2, heads: 2, mlpWidth: 128, maxPositions: 1024 } },
  domains: { math: { source: ${JSON.stringify(file)} } },
  rollouts: { groupSize: 4, maxOutputTokens: 8, maxPromptTokens: 512 },
  training: { steps: 1, groupsPerStep: 2 },
});
`,
  );
  const main = path.join(root, "dist/lib/cli/main.js");
  const argv = ["--import", LISTENER, main, "run", recipe, "--overwrite"];
  const { stderr } = spawnSync(process.execPath, argv, { cwd: folder, encoding: "utf8" });
  const cost = /^cost (.*)$/m.exec(stderr);
  if (cost === null) throw new Error(stderr);
  return JSON.parse(cost[1]);
}

try {
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(root, path.join(folder, "node_modules/hone-rl"));
  const given = process.env.HONE_BENCH_ROWS?.split(",").map((file) => path.resolve(file));
  const rows = [];
  for (const [name, make] of given?.map((file) => [path.basename(file), () => file]) ??
    Object.entries(FORMATS)) {
    const file = await make();
    const { seconds, MiB, ...cost } = costOf(file);
    const isBound = name === "rows.jsonl" && given === undefined;
    rows.push(
      {
        name: `${name}, s until the rows are read`,
        value: seconds,
        ...cost,
        ...(isBound && { ceiling: CEILINGS.seconds }),
      },
      { name: `${name}, MiB at most until then`, value: MiB, ...(isBound && { ceiling: CEILINGS.MiB }) },
    );
    if (given === undefined) rmSync(file);
  }
  console.log(JSON.stringify({ rows }));
} finally {
  rmSync(folder, { recursive: true });
}
