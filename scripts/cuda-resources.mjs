// Registers, spills, stack and machine code of every CUDA kernel against csrc/kernels/cuda/resources.json. Needs nvcc,
// no GPU.
//   node scripts/cuda-resources.mjs              fails if a kernel spills, grows or is not in the table
//   node scripts/cuda-resources.mjs --write      makes the table anew
//   node scripts/cuda-resources.mjs --write a b  only what it says of a.cu and b.cu
//   node scripts/cuda-resources.mjs --log F      compiles nothing: F is what a build with -Xptxas=-v printed; machine
//                                                code is read from the objects in build/ if --no-compress left it readable
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { kernelsIn } from "./cuda-sass.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const table = path.join(root, "csrc/kernels/cuda/resources.json");
const ARCHITECTURES = ["sm_80", "sm_90a"];

/** What should not grow, and, of machine code that could be read, what should not grow or fall. */
const USE = ["registers", "stack", "spills"];
const COSTS = ["cas", "calls", "r2ur"];
const LOADS = ["loads16", "loads32", "loads64", "loads128", "waits"];

/** What 384 threads can be launched with, or 512, or two blocks of 384. Groups of four warps then hand each other registers (setmaxnreg): of
 *  fewer there would not be enough, and those who take would wait for ever. */
const WHOLE_SHARES = [168, 128, 80];

/**
 * What `ptxas -v` says, by kernel. Names come mangled and go through `demangle`, without namespaces and parameters.
 * Device functions that were not inlined count with the kernels: theirs is the stack.
 */
export function parseResources(text, demangle = (names) => names) {
  const found = [];
  let current;
  for (const line of text.split("\n")) {
    const entry = /(?:Compiling entry function|Function properties for) '?([\w$]+)'?/.exec(line);
    if (entry && entry[1] !== current?.name) {
      current = { name: entry[1], registers: 0, stack: 0, spills: 0 };
      found.push(current);
    }
    const frame = /(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads/.exec(line);
    if (frame && current) {
      current.stack = Number(frame[1]);
      current.spills = Number(frame[2]) + Number(frame[3]);
    }
    const used = /Used (\d+) registers/.exec(line);
    if (used && current) current.registers = Number(used[1]);
  }
  const names = demangle(found.map(({ name }) => name));
  return Object.fromEntries(found.map(({ name: _, ...use }, i) => [shortName(names[i]), use]));
}

/** What ninja printed of a build with -Xptxas=-v -> the kernels of every "file.cu sm_NN", as `measure` gives them. */
export function parseBuildLog(text, demangle) {
  const reports = new Map();
  let file;
  let where;
  for (const line of text.split("\n")) {
    const step = /^\[\d+\/\d+\] (?:Building CUDA object \S*?(\w+\.cu)\.o)?/.exec(line);
    if (step) [file, where] = [step[1], undefined];
    const architecture = /Compiling entry function .* for '(\w+)'/.exec(line)?.[1];
    if (file && architecture)
      where = isCompiledFor(file, architecture) ? `${file} ${architecture}` : undefined;
    if (where) reports.set(where, `${reports.get(where) ?? ""}${line}\n`);
  }
  return sorted([...reports].map(([where, report]) => [where, parseResources(report, demangle)]));
}

function isCompiledFor(file, architecture) {
  return architecture === "sm_90a" || !file.endsWith("_sm90.cu");
}

function sorted(entries) {
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `void hone::kernels::cuda::(anonymous namespace)::norm_kernel<32>(Norm)` -> `norm_kernel<32>`. */
export function shortName(name) {
  const plain = name
    .replaceAll("(anonymous namespace)::", "")
    .replaceAll("hone::kernels::cuda::", "")
    .replace(/^void /, "");
  let depth = 0;
  for (let i = 0; i < plain.length; ++i) {
    if (plain[i] === "<") depth += 1;
    if (plain[i] === ">") depth -= 1;
    if (plain[i] === "(" && depth === 0) return plain.slice(0, i);
  }
  return plain;
}

/** Adds to `kernels` of one file what its compiled `bytes` say of them, for the architectures that are in the table. */
export function addFacts(kernels, file, bytes, demangle = (names) => names) {
  const found = kernelsIn(bytes);
  const names = demangle(found.map(({ name }) => name)).map(shortName);
  found.forEach(({ architecture, name: _, ...facts }, i) => {
    const where = ARCHITECTURES.find((a) => a.replace(/\D/g, "") === String(architecture));
    Object.assign(kernels[`${file} ${where}`]?.[names[i]] ?? {}, facts);
  });
  return found.length;
}

/** Sentences about what got worse; `exact` is false when another compiler made the table, then only spills count. */
export function compareResources(wanted, got, exact) {
  const complaints = [];
  for (const [where, kernels] of Object.entries(got)) {
    for (const [name, use] of Object.entries(kernels)) {
      const was = wanted[where]?.[name];
      const read = [use, was].every((facts) => facts && [...COSTS, ...LOADS].some((k) => k in facts));
      const grown = (read ? [...USE, ...COSTS] : USE).filter((k) => was && (use[k] ?? 0) > (was[k] ?? 0));
      const share = WHOLE_SHARES.find((registers) => registers === was?.registers);
      if (share !== undefined && name.includes("_sm90_") && use.registers < share)
        complaints.push(
          `${where}: ${name} starts with ${use.registers} registers, setmaxnreg needs ${share}`,
        );
      if (was === undefined && exact) complaints.push(`${where}: ${name} is not in the table`);
      if (was === undefined && use.spills > 0)
        complaints.push(`${where}: ${name} spills ${use.spills} bytes`);
      for (const k of exact && read ? LOADS.filter((k) => (use[k] ?? 0) < (was[k] ?? 0)) : [])
        complaints.push(`${where}: ${name} has ${use[k] ?? 0} ${k}, the table says at least ${was[k]}`);
      for (const k of exact ? grown : grown.filter((k) => k === "spills")) {
        complaints.push(`${where}: ${name} has ${use[k]} ${k}, the table says ${was[k] ?? 0}`);
      }
    }
    for (const name of Object.keys(wanted[where] ?? {})) {
      if (exact && !(name in kernels)) complaints.push(`${where}: ${name} is gone`);
    }
  }
  return complaints;
}

/**
 * Kernels whose wgmma products ptxas does not leave to run beside the threads (serialised, or waits put in), a sentence
 * each: such a kernel is right, and slow. And setmaxnreg that it ignores, for which it names no kernel.
 */
export function heldProducts(text, demangle = (names) => names) {
  const codes = new Map();
  for (const [, code, name] of text.matchAll(/\((C75\d\d)\)[^\n]*?(?:wgmma|GMMA)[^\n]*?function '([\w$]+)'/g))
    codes.set(name, (codes.get(name) ?? new Set()).add(code));
  const names = demangle([...codes.keys()]);
  const held = [...codes.values()].map(
    (found, i) =>
      `${shortName(names[i])}: ptxas holds up its wgmma products (${[...found].sort().join(", ")})`,
  );
  const ignored = new Set([...text.matchAll(/'setmaxnreg' ignored[^\n]*/g)].map(([note]) => note));
  return [...held, ...[...ignored].map((note) => `some kernel: ${note}`)];
}

/** Release of nvcc, "13.0"; undefined without nvcc. */
export function nvccVersion(compiler = nvcc()) {
  if (!compiler) return undefined;
  return /release ([\d.]+)/.exec(spawnSync(compiler, ["--version"], { encoding: "utf8" }).stdout)?.[1];
}

function nvcc() {
  const beside = [process.env.CUDACXX, process.env.CUDA_PATH && `${process.env.CUDA_PATH}/bin/nvcc`, "nvcc"];
  return [...beside, "/usr/local/cuda/bin/nvcc"].find((c) => c && spawnSync(c, ["--version"]).status === 0);
}

function demangle(names) {
  const run = spawnSync("c++filt", { input: names.join("\n"), encoding: "utf8" });
  return run.status === 0 ? run.stdout.trimEnd().split("\n") : names;
}

/** Compiles the device side of one file; what ptxas printed, and the cubin. Throws with the compiler's text. */
function compile(compiler, file, architecture, folder) {
  const output = path.join(folder, `${path.basename(file)}.${architecture}.cubin`);
  const args = [
    "-cubin",
    `-arch=${architecture}`,
    "-std=c++17",
    "-O3",
    "-fmad=false",
    "-Xptxas=-v",
    "-Werror=all-warnings",
    "-DHONE_HAVE_CUDA=1",
  ];
  const child = spawn(compiler, [...args, "-Icsrc", "-o", output, file], { cwd: root });
  let text = "";
  child.stderr.on("data", (part) => {
    text += part;
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) =>
      code === 0
        ? resolve({ report: text, cubin: readFileSync(output) })
        : reject(new Error(`${file}\n${text}`)),
    );
  });
}

async function measure(compiler, only) {
  const folder = mkdtempSync(path.join(tmpdir(), "hone-cubin-"));
  const sources = readdirSync(path.join(root, "csrc"), { recursive: true })
    .map((file) => `csrc/${file}`)
    .filter((file) => /\/cuda\/\w+\.cu$/.test(file))
    .filter((file) => only.length === 0 || only.includes(path.basename(file, ".cu")));
  const jobs = sources.flatMap((file) =>
    ARCHITECTURES.filter((a) => isCompiledFor(file, a)).map((architecture) => ({ file, architecture })),
  );
  const found = {};
  let text = "";
  const worker = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const { report, cubin } = await compile(compiler, job.file, job.architecture, folder);
      text += report;
      const kernels = parseResources(report, demangle);
      if (Object.keys(kernels).length === 0) continue;
      const name = path.basename(job.file);
      found[`${name} ${job.architecture}`] = kernels;
      addFacts(found, name, cubin, demangle);
    }
  };
  try {
    await Promise.all(
      Array.from({ length: Number(process.env.HONE_JOBS ?? availableParallelism()) }, worker),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { kernels: sorted(Object.entries(found)), text };
}

/** Adds what the addon's objects say; how many kernels were readable. */
function readObjects(kernels) {
  const build = path.join(root, "build/cmake/CMakeFiles");
  const objects = existsSync(build)
    ? readdirSync(build, { recursive: true }).filter((file) => /\/cuda\/\w+\.cu\.o$/.test(file))
    : [];
  return objects.reduce(
    (n, file) =>
      n + addFacts(kernels, path.basename(file, ".o"), readFileSync(path.join(build, file)), demangle),
    0,
  );
}

/** One kernel a line, so that a change reads as what it is. */
function render(compiler, kernels) {
  const blocks = Object.entries(kernels).map(([where, all]) => {
    const lines = Object.entries(all).map(
      ([name, use]) => `      ${JSON.stringify(name)}: ${JSON.stringify(use)}`,
    );
    return `    ${JSON.stringify(where)}: {\n${lines.join(",\n")}\n    }`;
  });
  return `{\n  "compiler": ${JSON.stringify(compiler)},\n  "kernels": {\n${blocks.join(",\n")}\n  }\n}\n`;
}

async function main() {
  const compiler = nvcc();
  if (!compiler) return console.log("cuda resources: skipped: no nvcc");
  const version = nvccVersion(compiler);
  const log = process.argv.indexOf("--log");
  const printed = log > 0 ? readFileSync(process.argv[log + 1], "utf8") : "";
  const logged = { kernels: parseBuildLog(printed, demangle), text: printed };
  // A build that was up to date printed nothing.
  const built = Object.keys(logged.kernels).length > 0;
  const only = process.argv.slice(process.argv.indexOf("--write") + 1 || process.argv.length);
  const { kernels, text } = built ? logged : await measure(compiler, only);
  if (built && readObjects(kernels) === 0)
    console.log("cuda resources: machine code: skipped: no objects that can be read (nvcc --no-compress)");
  const count = Object.values(kernels).reduce((n, all) => n + Object.keys(all).length, 0);
  if (process.argv.includes("--write")) {
    const others = only.length > 0 ? JSON.parse(readFileSync(table, "utf8")).kernels : {};
    writeFileSync(table, render(version, sorted(Object.entries({ ...others, ...kernels }))));
    return console.log(`cuda resources: ${count} kernels written`);
  }
  const known = existsSync(table)
    ? JSON.parse(readFileSync(table, "utf8"))
    : { compiler: version, kernels: {} };
  const complaints = [
    ...compareResources(known.kernels, kernels, known.compiler === version),
    ...heldProducts(text, demangle),
  ];
  if (known.compiler !== version)
    console.log(`cuda resources: the table is of nvcc ${known.compiler}, this is ${version}: spills only`);
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) console.error("If this is meant: node scripts/cuda-resources.mjs --write");
  console.log(`cuda resources: ${count} kernels, ${complaints.length} complaints`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
