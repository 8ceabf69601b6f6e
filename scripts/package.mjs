// npm run package: makes the published package from a checkout whose dist/ is compiled. Stages it in a folder of build/:
// JavaScript bundled by entry, so that a process loads about ten files instead of four hundred; declarations bundled by
// entry point; the C++ sources as one archive; the prebuilt core. Then packs it into this folder.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { writeDist } from "./bundle.mjs";
import { must } from "./must.mjs";
import { architectures, prebuild } from "./prebuild.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** Files copied unchanged. SCRIPTS: those of scripts/ that an installed package needs. */
const COPIED = ["LICENSE", "README.md", "CMakeLists.txt", "binding.gyp", "docs", "recipes"];
const SCRIPTS = ["install", "build-native", "build-cache", "build-progress"];
/** Files copied next to dist/, where lib/ finds them by packageRoot(). */
export const READ_AT_RUN_TIME = [
  "lib/live/page",
  "lib/native/stamp.ts",
  "lib/rewards/python/environment_host.py",
  "lib/rewards/python/reward_host.py",
];

const text = (...at) => readFileSync(path.join(root, ...at), "utf8");

/** Returns the sources of package.json's entry points, relative to the checkout and without the extension. */
export function entryPoints() {
  return Object.values(JSON.parse(text("package.json")).exports).flatMap(({ types }) =>
    types === undefined ? [] : [types.replace(/^\.\/dist\//, "").replace(/\.d\.ts$/, "")],
  );
}

/** Writes the declarations of the package's entry points into `dist`: one file each, and files for shared declarations. */
export async function writeDeclarations(dist) {
  mkdirSync(path.join(root, "build"), { recursive: true });
  const types = mkdtempSync(path.join(root, "build/types-"));
  try {
    return await bundleDeclarations(types, dist);
  } finally {
    rmSync(types, { recursive: true, force: true });
  }
}

/** Bundles declarations compiled into `types`. @returns names of the files in `dist` */
async function bundleDeclarations(types, dist) {
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  must(process.execPath, [tsc, "-p", path.join(root, "tsconfig.build.json"), "--outDir", types], {
    cwd: root,
  });
  const { dts } = await import("rolldown-plugin-dts"); // imported here, because only a release needs it
  const bundled = await rolldown({
    input: Object.fromEntries(entryPoints().map((name) => [name, path.join(types, `${name}.d.ts`)])),
    external: (name) => /^[a-z@]/.test(name),
    plugins: [dts({ dtsInput: true, tsconfig: false, sourcemap: false })],
  });
  const { output } = await bundled.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].ts",
    chunkFileNames: "lib/types/[name]-[hash].d.ts",
  });
  await bundled.close();
  for (const name of entryPoints())
    keepReferences(path.join(types, `${name}.d.ts`), path.join(dist, `${name}.d.ts`));
  return output.map(({ fileName }) => fileName);
}

/** Copies a declaration file's reference lines to its bundle, because the bundler omits them. */
function keepReferences(from, to) {
  const references = readFileSync(from, "utf8").match(/^\/\/\/ <reference .*\n/gm) ?? [];
  const bundled = readFileSync(to, "utf8").replace(/^\/\/\/ <reference .*\n/gm, "");
  writeFileSync(to, references.join("") + bundled);
}

/** Returns the published package.json, without the scripts of a checkout. */
function manifest() {
  const { devDependencies: _, scripts, files: __, ...published } = JSON.parse(text("package.json"));
  return { ...published, scripts: { install: scripts.install } };
}

async function stagePackage(stage, folders) {
  mkdirSync(path.join(stage, "scripts"));
  for (const name of COPIED) cpSync(path.join(root, name), path.join(stage, name), { recursive: true });
  for (const name of SCRIPTS)
    cpSync(path.join(root, "scripts", `${name}.mjs`), path.join(stage, "scripts", `${name}.mjs`));
  for (const name of [...READ_AT_RUN_TIME, ...folders])
    cpSync(path.join(root, name), path.join(stage, name), { recursive: true });
  must(
    "tar",
    ["--sort=name", "--owner=0", "--group=0", "--mtime=@0", "-czf", path.join(stage, "csrc.tgz"), "csrc"],
    { cwd: root },
  );
  await writeDist(stage, { maps: false, benches: false });
  await writeDeclarations(path.join(stage, "dist"));
  writeFileSync(path.join(stage, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/**
 * Packs the staged package into `into`; returns npm's description of the tarball: filename, size, entryCount.
 * @param prebuilt processors for which it gets a prebuilt core; each takes minutes to compile the first time.
 */
export async function packPackage(into, { prebuilt = [process.arch] } = {}) {
  // Always builds, so that the package never gets a core of older sources; without changes that takes seconds.
  const folders = prebuilt.map((arch) => path.relative(root, prebuild(arch)));
  mkdirSync(path.join(root, "build"), { recursive: true });
  // A unique folder, because several tests may pack at the same time.
  const stage = mkdtempSync(path.join(root, "build/package-"));
  try {
    await stagePackage(stage, folders);
    const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", into];
    return JSON.parse(must("npm", args, { cwd: stage }))[0];
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * Packs without a prebuilt core, as packPackage does, or copies the tarball that .ci/run has packed of the same sources:
 * HONE_PACKED is the file with its description.
 */
export async function packToTry(into) {
  const packed = process.env.HONE_PACKED;
  if (!packed) return await packPackage(into, { prebuilt: [] });
  const description = JSON.parse(readFileSync(packed, "utf8"));
  cpSync(path.join(path.dirname(packed), description.filename), path.join(into, description.filename));
  return description;
}

/** node scripts/package.mjs --to-try FILE: packs beside FILE, for HONE_PACKED=FILE. */
async function packOnce(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(await packPackage(path.dirname(file), { prebuilt: [] })));
}

const isProgram = process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isProgram && process.argv[2] === "--to-try") await packOnce(path.resolve(process.argv[3]));
else if (isProgram) {
  const prebuilt = architectures();
  const { filename, size, entryCount } = await packPackage(root, { prebuilt });
  console.log(
    `hone: ${filename}, ${(size / 1e6).toFixed(1)} MB, ${entryCount} files, prebuilt for ${prebuilt.join(", ")}`,
  );
}
