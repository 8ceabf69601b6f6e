// Formats the results of scripts/gpu-check.sh: the result of each part, which promises hold, and each number with its floor,
// its target and the fastest peer. Prints Markdown; needs no GPU. If several folders (or archives) have the same part, the
// last one counts.
//   node scripts/gpu-table.mjs bench/results/DATE-h100 > bench/results/DATE-h100/README.md
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const BENCHES = ["gemm", "attention", "lm_head", "rows", "model"];
const PEER_OF_GEMM = "cublasLt";
/** The largest difference allowed, as a fraction of the largest value; both sides round to bf16 once. */
const MOST_DIFFERENCE = 0.02;

/** Returns the page. `files` has the text of summary.json, PART.json and PART.jsonl by name; any of them may be missing. */
export function gpuTable(files) {
  const summary = JSON.parse(files["summary.json"] ?? "{}");
  return [
    `# ${summary.device || "No GPU"}`,
    `Driver ${summary.driver || "unknown"}, ${summary.architecture ? `sm_${summary.architecture}` : "no architecture"}, ${summary.nvcc || "no nvcc"}; ${summary.date ?? "no date"}.`,
    ...partsTable(files),
    ...programsList(files),
    ...notesList(files),
    ...promisesTable(promisesOf(files)),
    ...endToEnd(linesOf(files, "node")),
    ...figures(linesOf(files, "bench"), linesOf(files, "peers")),
  ].join("\n");
}

/** Returns the lines of a PART.jsonl, parsed; skips a line that was cut off. */
function linesOf(files, part) {
  return (files[`${part}.jsonl`] ?? "").split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

function partsTable(files) {
  const parts = Object.keys(files)
    .filter((name) => name.endsWith(".json") && name !== "summary.json")
    .map((name) => JSON.parse(files[name]));
  const order = JSON.parse(files["summary.json"] ?? "{}").parts?.map(({ part }) => part) ?? [];
  parts.sort((a, b) => order.indexOf(a.part) - order.indexOf(b.part));
  const rows = parts.map((p) => [p.part, p.status, `${p.seconds} s`, p.reason]);
  return ["", "## Parts", ...table(["part", "", "", "reason"], rows)];
}

function programsList(files) {
  const bad = ["tests", "portable", "memcheck", "racecheck"].flatMap((part) =>
    linesOf(files, part)
      .filter(({ status }) => status !== undefined && status !== "passed")
      .map((p) => [part, p.program, p.status, p.reason]),
  );
  return bad.length === 0
    ? []
    : ["", "## Programs that did not pass", ...table(["part", "program", "", "reason"], bad)];
}

/** Lists the tests' notes about the device, which are neither passes nor failures. */
function notesList(files) {
  const notes = linesOf(files, "tests").flatMap(({ program, notes = [] }) =>
    notes.map((text) => `- ${program}: ${text}`),
  );
  return notes.length === 0 ? [] : ["", "## Noted", ...notes];
}

/** Returns the promises of the device's own kernels, and then, if they were tested too, of the portable kernels. */
function promisesOf(files) {
  const portable = linesOf(files, "portable").filter(({ promise }) => promise !== undefined);
  return [
    ...linesOf(files, "promises"),
    ...portable.map((line) => ({ ...line, promise: `by mma.sync: ${line.promise}` })),
  ];
}

function promisesTable(lines) {
  if (lines.length === 0) return [];
  const rows = lines.map((line) => [
    line.promise,
    line.kept ? "kept" : "**broken**",
    line.case.replaceAll("_", " "),
  ]);
  return ["", "## Promises", ...table(["promise", "", "case"], rows)];
}

/** Formats the end-to-end tasks and their results; speeds of whole models get a separate table. */
function endToEnd(things) {
  if (things.length === 0) return [];
  const said = ({ what: _, status: __, seconds: ___, reason, rows: ____, said, ...rest }) =>
    reason ??
    said?.join("; ") ??
    Object.entries(rest)
      .map(([name, value]) => `${name} ${short(value)}`)
      .join("; ");
  const rows = things.map((thing) => [thing.what, thing.status, `${thing.seconds} s`, said(thing)]);
  const models = things
    .flatMap((thing) => thing.rows ?? [])
    .map((row) => [
      row.shape,
      row.what,
      row.size ?? "",
      row.problem ?? row.tokensPerSecond.toFixed(0),
      percent(row.ofFloor),
    ]);
  const speeds = table(["shape", "", "size", "tokens/s", "of the floor"], models);
  return [
    "",
    "## From beginning to end",
    ...table(["", "", "", "what it said"], rows),
    ...(models.length === 0 ? [] : ["", ...speeds]),
  ];
}

const short = (value) =>
  Array.isArray(value)
    ? value.map(short).join(", ")
    : typeof value === "number" && !Number.isInteger(value)
      ? value.toPrecision(3)
      : String(value);

function figures(lines, peers) {
  const measured = lines.filter(({ microseconds }) => microseconds > 0);
  const judged = measured.map(target).filter((t) => t !== undefined);
  const out = [
    "",
    "## Figures",
    `${judged.filter(({ met }) => met).length} of ${judged.length} targets met.`,
  ];
  for (const bench of BENCHES) {
    const head = lines.find((line) => line.bench === bench && line.device !== undefined);
    const rows = lines.filter((line) => line.bench === bench && line.name !== undefined);
    out.push("", `### ${bench}`);
    if (head) {
      out.push(
        `Floors: ${head.peakTeraflops.toFixed(0)} TFLOP/s at the highest clock, copies at ${head.copyGigabytesPerSecond.toFixed(0)} GB/s.`,
      );
    }
    if (rows.length === 0) out.push("Nothing was measured.");
    else {
      out.push(
        ...table(
          ["", "µs", "rate", "of the floor", "target", "beside the fastest peer"],
          rows.map((row) => figure(row, peers)),
        ),
      );
    }
  }
  const lost = peers.filter(({ problem }) => problem !== undefined);
  if (lost.length > 0) {
    out.push(
      "",
      "### Peers that could not be measured",
      ...lost.map((p) => `- ${p.name}, ${p.peer}: ${p.problem}`),
    );
  }
  return out;
}

function figure(row, peers) {
  if (row.problem !== undefined) return [row.name, "", "", "", "", row.problem];
  const rates = [];
  if (row.tokensPerSecond !== undefined) rates.push(`${row.tokensPerSecond.toFixed(0)} tokens/s`);
  if (row.teraflops >= 1) rates.push(`${row.teraflops.toFixed(0)} TFLOP/s`);
  if (row.gigabytesPerSecond !== undefined) rates.push(`${row.gigabytesPerSecond.toFixed(0)} GB/s`);
  const goal = target(row);
  return [
    row.name,
    row.microseconds.toFixed(1),
    rates.join(", "),
    percent(row.ofFloor),
    goal === undefined ? "" : `${goal.text}: ${goal.met ? "met" : "**missed**"}`,
    beside(row, peers),
  ];
}

function target(row) {
  if (row.targetTeraflops !== undefined) {
    return { text: `${row.targetTeraflops} TFLOP/s`, met: row.teraflops >= row.targetTeraflops };
  }
  if (row.targetOfFloor === undefined) return undefined;
  return { text: percent(row.targetOfFloor), met: row.ofFloor >= row.targetOfFloor };
}

/** Returns our speed divided by the fastest library's on the same shape: above 1 we are faster. */
function beside(row, peers) {
  const others = peers
    .filter((p) => p.bench === row.bench && p.microseconds > 0)
    .filter((p) => row.name === p.name || row.name.startsWith(`${p.name}, `));
  if (row.peerMicroseconds > 0) others.push({ peer: PEER_OF_GEMM, microseconds: row.peerMicroseconds });
  if (others.length === 0) return "";
  const best = others.reduce((a, b) => (b.microseconds < a.microseconds ? b : a));
  const times = `${(best.microseconds / row.microseconds).toFixed(2)} × ${best.peer}`;
  return row.differenceFromPeer <= MOST_DIFFERENCE || row.differenceFromPeer === undefined
    ? times
    : `${times}, **differs by ${row.differenceFromPeer.toExponential(1)}**`;
}

const percent = (x) => (x === undefined ? "" : `${(100 * x).toFixed(1).replace(/\.0$/, "")} %`);

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)];
}

/** Returns the texts of a folder's files by name, or of the files in its archive if it has one. */
export function filesOf(place) {
  if (!existsSync(place)) return {};
  const archive = statSync(place).isDirectory() ? path.join(place, "gpu-check.tar.gz") : place;
  if (!existsSync(archive)) return textsIn(place);
  const unpacked = mkdtempSync(path.join(tmpdir(), "hone-gpu-table-"));
  try {
    execFileSync("tar", ["-C", unpacked, "-xzf", archive]);
    return textsIn(unpacked);
  } finally {
    rmSync(unpacked, { recursive: true });
  }
}

function textsIn(folder) {
  const names = readdirSync(folder).filter((name) => /\.jsonl?$/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name), "utf8")]));
}

/** Merges the results of several calls: a part's files are those of the last call that ran it. */
export function merged(calls) {
  const parts = calls.flatMap((files) => JSON.parse(files["summary.json"] ?? "{}").parts ?? []);
  const files = Object.assign({}, ...calls);
  const names = [...new Set(parts.map(({ part }) => part))];
  const last = calls.map((call) => JSON.parse(call["summary.json"] ?? "{}")).at(-1);
  files["summary.json"] = JSON.stringify({
    ...last,
    parts: names.map((name) => parts.findLast(({ part }) => part === name)),
  });
  return files;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const calls = process.argv.slice(2).map(filesOf);
  if (calls.length === 0 || calls.some((files) => files["summary.json"] === undefined)) {
    console.error("usage: node scripts/gpu-table.mjs FOLDER...   (those that scripts/gpu-check.sh filled)");
    process.exit(2);
  }
  console.log(gpuTable(merged(calls)));
}
