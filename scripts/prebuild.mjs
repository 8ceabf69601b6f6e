// node scripts/prebuild.mjs [x64|arm64]: compiles the CPU core of the published package into prebuilds/linux-<arch>/, where
// node-gyp-build finds it. Links the C++ library statically, and only symbols that glibc 2.28 has; refuses a binary with
// newer ones. Without an argument: for this machine's processor, and for the other one if its cross-compiler is installed
// (on x64: apt-get install g++-aarch64-linux-gnu).
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { must } from "./must.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const OLDEST_GLIBC = [2, 28];
/** Linux's name of each processor by Node's name; a cross-compiler's name begins with Linux's. */
const PROCESSORS = { x64: "x86_64", arm64: "aarch64" };
/** The libraries that every Node on Linux loads itself. */
const ALLOWED = /^(?:libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|libpthread\.so\.0|libdl\.so\.2|ld-linux-.*)$/;
/** Each target of the build, and its place below prebuilds/linux-<arch>/. */
const ADDONS = [
  ["hone.node", "hone-rl.glibc.node"],
  ["hone_sandbox.node", "sandbox/hone_sandbox.node"],
];

/**
 * Returns the reasons why an addon would not load on Linux with glibc 2.28.
 * @param symbols output of `objdump -T` @param dynamic output of `readelf -d`
 */
export function tooNew(symbols, dynamic) {
  const versioned = [...symbols.matchAll(/\bGLIBC_(\d+)\.(\d+)[.\d]*\)?\s+(\w+)/g)]
    .filter(([, major, minor]) => Number(major) - OLDEST_GLIBC[0] || Number(minor) > OLDEST_GLIBC[1])
    .map(([, major, minor, name]) => `${name} of glibc ${major}.${minor}`);
  const cxx = [...symbols.matchAll(/\b(?:GLIBCXX|CXXABI)_[\d.]+\)?\s+(\w+)/g)].map(
    ([, name]) => `${name} of libstdc++.so.6`,
  );
  const libraries = [...dynamic.matchAll(/\(NEEDED\).*\[(.+)\]/g)]
    .map(([, name]) => name)
    .filter((name) => !ALLOWED.test(name));
  return [...versioned, ...cxx, ...libraries];
}

function checked(file, prefix) {
  const found = tooNew(must(`${prefix}objdump`, ["-T", file]), must(`${prefix}readelf`, ["-d", file]));
  if (found.length > 0)
    throw new Error(`${file} does not load on glibc 2.28: it asks for ${found.join(", ")}`);
}

const prefixOf = (arch) => (arch === process.arch ? "" : `${PROCESSORS[arch]}-linux-gnu-`);

/** Returns the options that make CMake compile for a processor; none for this machine's own. */
export function crossOptions(arch) {
  if (arch === process.arch) return [];
  return [
    "-DCMAKE_SYSTEM_NAME=Linux",
    `-DCMAKE_SYSTEM_PROCESSOR=${PROCESSORS[arch]}`,
    `-DCMAKE_CXX_COMPILER=${prefixOf(arch)}g++`,
  ];
}

/** Returns the processors for which this machine can compile the published core: its own, and others by a cross-compiler. */
export function architectures() {
  const has = (command) => spawnSync(command, ["--version"]).status === 0;
  return Object.keys(PROCESSORS).filter((arch) => arch === process.arch || has(`${prefixOf(arch)}g++`));
}

/** Compiles the published core for a processor and returns its folder. */
export function prebuild(arch) {
  if (PROCESSORS[arch] === undefined)
    throw new Error(`no prebuilt core for ${arch}: ${Object.keys(PROCESSORS).join(", ")}`);
  const prefix = prefixOf(arch);
  const build = path.join(root, "build", `prebuild-${arch}`);
  const options = [
    "-DCMAKE_UNITY_BUILD=ON",
    "-DHONE_PORTABLE=ON",
    "-DHONE_CUDA=OFF",
    "-DHONE_GLOO=OFF",
    ...crossOptions(arch),
  ];
  const loud = { stdio: ["ignore", "inherit", "inherit"] };
  must("cmake", ["-S", root, "-B", build, ...options], loud);
  const jobs = process.env.HONE_JOBS ?? String(availableParallelism());
  must("cmake", ["--build", build, "-j", jobs, "--target", "hone", "hone_sandbox_addon"], loud);
  for (const [built] of ADDONS) checked(path.join(build, built), prefix);
  const folder = path.join(root, "prebuilds", `linux-${arch}`);
  rmSync(folder, { recursive: true, force: true });
  for (const [built, name] of ADDONS) {
    const to = path.join(folder, name);
    mkdirSync(path.dirname(to), { recursive: true });
    copyFileSync(path.join(build, built), to);
    must(`${prefix}strip`, ["--strip-unneeded", to]);
  }
  return folder;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const arch of process.argv[2] === undefined ? architectures() : [process.argv[2]])
    console.log(`hone: ${path.relative(root, prebuild(arch))} is built`);
}
