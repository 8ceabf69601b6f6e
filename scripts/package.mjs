// npm run package: the package as it is published, from a checkout whose dist/ is compiled. Stages it in build/package:
// JavaScript bundled by entry (a process loads some twenty files instead of four hundred), declarations that the two
// entry points reach, the C++ sources as one archive, the prebuilt core; then packs it into this folder.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { writeDist } from "./bundle.mjs";
import { must } from "./must.mjs";
import { prebuild } from "./prebuild.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** Copied as they are; the rest of scripts/ is for a checkout. */
const COPIED = ["LICENSE", "README.md", "CMakeLists.txt", "binding.gyp", "docs", "bench", "recipes"];
const SCRIPTS = ["install", "build-native", "build-cache", "build-progress", "bench", "options"];
/** Beside dist/, where lib/ finds them by packageRoot(). */
export const READ_AT_RUN_TIME = ["lib/live/page", "lib/native/stamp.ts", "lib/rewards/python/reward_host.py"];

const text = (...at) => readFileSync(path.join(root, ...at), "utf8");

/** Writes the declarations that the package's entries name, each with all that it imports, into `dist`. */
export function writeDeclarations(dist) {
  const types = path.join(root, "build/types");
  rmSync(types, { recursive: true, force: true });
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  must(process.execPath, [tsc, "-p", path.join(root, "tsconfig.build.json"), "--outDir", types], {
    cwd: root,
  });
  const found = new Set();
  const wanted = ["lib/index.d.ts", "lib/native/index.d.ts"];
  for (let file = wanted.pop(); file !== undefined; file = wanted.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, to] of readFileSync(path.join(types, file), "utf8").matchAll(
      /(?:from|import\(|import)\s*"(\.[^"]+)"/g,
    ))
      wanted.push(path.join(path.dirname(file), to.replace(/\.[tj]s$/, ".d.ts")));
  }
  for (const file of found) {
    mkdirSync(path.dirname(path.join(dist, file)), { recursive: true });
    cpSync(path.join(types, file), path.join(dist, file));
  }
}

/** What npm reads of it: no step of a checkout is left. */
function manifest() {
  const { devDependencies: _, scripts, files: __, ...published } = JSON.parse(text("package.json"));
  return { ...published, scripts: { install: scripts.install } };
}

async function stagePackage(folders) {
  const stage = path.join(root, "build/package");
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(path.join(stage, "scripts"), { recursive: true });
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
  await writeDist(stage, { maps: false });
  writeDeclarations(path.join(stage, "dist"));
  writeFileSync(path.join(stage, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  return stage;
}

/**
 * Packs the staged package into `into`; npm's description of the tarball: filename, size, entryCount.
 * @param prebuilt false leaves the prebuilt core out, which takes minutes to compile the first time.
 */
export async function packPackage(into, { prebuilt = true } = {}) {
  if (prebuilt) prebuild(process.arch); // seconds where nothing has changed; one of older sources must not be packed
  const stage = await stagePackage(prebuilt ? ["prebuilds"] : []);
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", into];
  return JSON.parse(must("npm", args, { cwd: stage }))[0];
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { filename, size, entryCount } = await packPackage(root);
  console.log(`hone: ${filename}, ${(size / 1e6).toFixed(1)} MB, ${entryCount} files`);
}
