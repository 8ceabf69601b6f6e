// node scripts/gpu-pack.mjs [--out build/gpu-pack] [--arch 90a] [--most-mib 45]: builds an archive of everything that
// scripts/gpu-check.sh runs, for a machine with a GPU: the device tests and benches, Node, and the package with its core for
// that GPU. There `gpu-check.sh --prebuilt <archive>` uses it, which also needs a checkout. Prints sizes and seconds. Exits
// with 1 if the archive is larger than --most-mib. Needs nvcc and xz, but no GPU.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { must } from "./must.mjs";
import { optionsOf } from "./options.mjs";
import { packPackage } from "./package.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const USAGE = "node scripts/gpu-pack.mjs [--out <folder>] [--arch <90a|80>] [--most-mib <n>]";
/** Dependencies of the package that are needed only to compile it. */
const FOR_BUILDING = ["cmake-js", "node-addon-api", "@types/node"];
/** The files to pack: the programs, and the libraries that some of them open. */
const PROGRAM = /^(?:(?:test|bench_cuda)_\w+|libfake_\w+\.so)$/;

const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
const loud = { stdio: ["ignore", "inherit", "inherit"] };

/** Compiles the programs and the core. @returns the build folder */
function compile(arch) {
  const build = path.join(root, "build", `gpu-pack-${arch}`);
  const options = {
    CMAKE_BUILD_TYPE: "Release",
    CMAKE_CUDA_ARCHITECTURES: arch,
    CMAKE_CUDA_FLAGS: "-lineinfo", // lets compute-sanitizer name lines; the machine code stays the same
    CMAKE_EXE_LINKER_FLAGS: "-static-libstdc++ -static-libgcc",
    CMAKE_SHARED_LINKER_FLAGS: "-static-libstdc++",
    HONE_ADDON: "ON",
    HONE_CUDA: "ON",
    HONE_GLOO: "OFF",
    HONE_TESTS: "ON",
    HONE_TEST_LIBRARIES: "$ORIGIN", // the archive is unpacked elsewhere
  };
  const generator = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
  const flags = Object.entries(options).map(([name, value]) => `-D${name}=${value}`);
  must("cmake", ["-S", root, "-B", build, ...generator, ...flags], loud);
  const targets = ["device_tests", "device_benches", "hone", "hone_sandbox_addon"];
  const jobs = process.env.HONE_JOBS ?? String(availableParallelism());
  must("cmake", ["--build", build, "-j", jobs, "--target", ...targets], loud);
  return build;
}

/** Returns the names of the tests that ask for a device, as ctest lists them; each has the program test_<name>. */
const deviceTests = (build) =>
  [...must("ctest", ["--test-dir", build, "-N", "-L", "device"]).matchAll(/^ *Test *#\d+: (\w+)$/gm)].map(
    ([, name]) => name,
  );

function copyPrograms(build, stage) {
  for (const name of readdirSync(build).filter((file) => PROGRAM.test(file))) {
    copyFileSync(path.join(build, name), path.join(stage, name));
    must("strip", ["--strip-unneeded", path.join(stage, name)]);
  }
  const tests = deviceTests(build).filter((name) => existsSync(path.join(stage, `test_${name}`)));
  if (tests.length === 0) throw new Error(`${build} has no test that asks for a device`);
  writeFileSync(path.join(stage, "device-tests"), `${tests.join("\n")}\n`);
  return tests.length;
}

/** Returns the folders of all packages that the published package needs to run. */
export function runtimePackages(from = root) {
  const lock = JSON.parse(readFileSync(path.join(from, "package-lock.json"), "utf8")).packages;
  const found = new Set();
  const add = (name, at) => {
    const places = [`${at}/node_modules/${name}`, `node_modules/${name}`].map((p) => p.replace(/^\//, ""));
    const place = places.find((p) => lock[p] !== undefined);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    for (const needed of Object.keys(lock[place].dependencies ?? {})) add(needed, place);
  };
  for (const name of Object.keys(lock[""].dependencies)) if (!FOR_BUILDING.includes(name)) add(name, "");
  return [...found];
}

/** Copies the package as it is published, with the core that was compiled for the GPU. */
async function copyPackage(build, stage) {
  const { filename } = await packPackage(stage, { prebuilt: [] });
  const to = path.join(stage, "hone");
  mkdirSync(to);
  must("tar", ["-xzf", path.join(stage, filename), "--strip-components=1", "-C", to]);
  for (const name of [filename, "hone/csrc.tgz", "hone/docs"])
    rmSync(path.join(stage, name), { recursive: true });
  mkdirSync(path.join(to, "build/Release/sandbox"), { recursive: true });
  for (const [built, name] of [
    ["hone.node", "hone.node"],
    ["hone_sandbox.node", "sandbox/hone_sandbox.node"],
  ]) {
    copyFileSync(path.join(build, built), path.join(to, "build/Release", name));
    must("strip", ["--strip-unneeded", path.join(to, "build/Release", name)]);
  }
  for (const place of runtimePackages())
    cpSync(path.join(root, place), path.join(to, place), { recursive: true });
}

function copyNode(stage) {
  mkdirSync(path.join(stage, "bin"));
  const node = path.join(stage, "bin/node");
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  must("strip", ["--strip-unneeded", node]);
}

/** Makes the archive, sorted by name and with a large window, so that xz finds what similar programs have in common. */
function archive(stage, file) {
  rmSync(file, { force: true });
  must("bash", [
    "-c",
    `tar --sort=name --owner=0 --group=0 --mtime=@0 -C "$0" -cf - . | xz -9 --lzma2=preset=9,dict=192MiB -T1 >"$1"`,
    stage,
    file,
  ]);
  return statSync(file).size;
}

const bytesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);

async function main() {
  const text = (value) => ({ type: "string", default: value });
  const values = optionsOf({ out: text("build/gpu-pack"), arch: text("90a"), "most-mib": text("45") }, USAGE);
  const out = path.resolve(values.out);
  const stage = path.join(out, "stage");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  const begun = performance.now();
  const seconds = () => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
  const build = compile(values.arch);
  console.log(`compiled for ${values.arch}: ${seconds()}`);
  const tests = copyPrograms(build, stage);
  console.log(`${tests} tests and benches: ${mib(bytesBelow(stage))} MiB`);
  await copyPackage(build, stage);
  copyNode(stage);
  const sources = must("bash", [path.join(root, "scripts/gpu-check.sh"), "--sources"]).trim();
  writeFileSync(path.join(stage, "manifest"), `architecture ${values.arch}\nsources ${sources}\n`);
  console.log(`with Node ${process.version} and the package: ${mib(bytesBelow(stage))} MiB, ${seconds()}`);
  const size = archive(stage, path.join(out, "gpu-pack.tar.xz"));
  rmSync(stage, { recursive: true });
  console.log(
    `${path.relative(root, out)}/gpu-pack.tar.xz: ${mib(size)} MiB of at most ${values["most-mib"]}, ${seconds()}`,
  );
  return size > Number(values["most-mib"]) * 2 ** 20 ? 1 : 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = await main();
