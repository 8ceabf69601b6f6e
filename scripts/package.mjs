// npm run package: the package as it is published, from a checkout whose dist/ is compiled. Stages it in build/package:
// JavaScript bundled by entry (a process loads some twenty files instead of four hundred), declarations that the two
// entry points reach, the C++ sources as one archive, the prebuilt core; then packs it into this folder.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { must } from "./must.mjs";
import { prebuild } from "./prebuild.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** Copied as they are; the rest of scripts/ is for a checkout. */
const COPIED = ["LICENSE", "README.md", "CMakeLists.txt", "binding.gyp", "docs", "bench", "recipes"];
const SCRIPTS = ["install", "build-native", "build-cache", "build-progress", "bench", "options"];
/** Beside dist/, where lib/ finds them by packageRoot(). */
export const READ_AT_RUN_TIME = [
  "lib/live/page",
  "lib/native/stamp.ts",
  "lib/rewards/python/reward_host.py",
  "dist/langdetect",
];
const ENTRIES = ["lib/index", "lib/native/index", "lib/cli/main"];

const text = (...at) => readFileSync(path.join(root, ...at), "utf8");

/** Files below a folder of the checkout, relative to it. */
const filesBelow = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
    path.join(folder, name),
  );

/** Modules that processes and threads of ours begin with (lib/own-module.ts). */
export function startedModules(file, source) {
  return [...source.matchAll(/\bown(?:Module|Thread)\("([\w-]+)", import\.meta\.url/g)].map(([, name]) =>
    path.join(path.dirname(file), name),
  );
}

/** A module that is imported by a name told at run time: import(`./${domain}/cases.ts`). */
const CHOSEN = /import\(`\.\/\$\{\w+\}\/([\w-]+)\.ts`\)/g;

/** Modules that a file chooses among at run time. @param folders names of the folders beside it */
export function chosenModules(file, source, folders) {
  const beside = (name) => folders.map((folder) => path.join(path.dirname(file), folder, name));
  return [...source.matchAll(CHOSEN)].flatMap(([, name]) => beside(name));
}

/** Modules of dist/ that a bench imports by itself. */
export function importedByBench(source) {
  const direct = [...source.matchAll(/"\.\.\/dist\/(lib\/[\w/-]+)\.js"/g)].map(([, name]) => name);
  const built = [...source.matchAll(/\bbuilt\("([\w/-]+)\.js"\)/g)].map(([, name]) => `lib/${name}`);
  return [...direct, ...built];
}

/** Names of all entries, below dist/ and without the extension. */
function entryNames() {
  const sources = filesBelow("lib").filter((file) => file.endsWith(".ts"));
  const started = sources.flatMap((file) => startedModules(file, text(file)));
  const foldersBeside = (file) =>
    readdirSync(path.join(root, path.dirname(file)), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  const chosen = sources
    .flatMap((file) => chosenModules(file, text(file), foldersBeside(file)))
    .filter((name) => existsSync(path.join(root, `${name}.ts`)));
  const benches = filesBelow("bench")
    .filter((file) => file.endsWith(".mjs"))
    .flatMap((file) => importedByBench(text(file)));
  const recipes = filesBelow("recipes")
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length));
  return [...new Set([...ENTRIES, ...started, ...chosen, ...benches, ...recipes])].sort();
}

/**
 * Keeps import.meta.url what it was before modules were put together: modules find processes and files of the package
 * by where they lie in dist/.
 */
const keepPlaces = (dist) => ({
  name: "keep-places",
  transform: (code, id) => {
    if (!id.startsWith(dist)) return undefined;
    // what tsc makes of CHOSEN
    const placed = code.replaceAll(
      /__rewriteRelativeImportExtension\((`\.\/\$\{\w+\}\/[\w-]+)\.ts`\)/g,
      "new URL($1.js`, import.meta.url).href",
    );
    return placed.replaceAll("import.meta.url", `__HONE_PLACE__("${path.relative(dist, id)}")`);
  },
  renderChunk: (code, chunk) =>
    code.replaceAll(/__HONE_PLACE__\("([^"]+)"\)/g, (_, place) => {
      const from = path.relative(path.dirname(chunk.fileName), place);
      return `new URL("${from.startsWith(".") ? from : `./${from}`}", import.meta.url).href`;
    }),
});

async function bundle(stage) {
  const dist = path.join(root, "dist");
  const bundled = await rolldown({
    input: Object.fromEntries(entryNames().map((name) => [name, path.join(dist, `${name}.js`)])),
    platform: "node",
    external: /^(?:node:|[a-z@])[^:]*$|^node:/,
    plugins: [keepPlaces(dist)],
  });
  await bundled.write({
    dir: path.join(stage, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "lib/chunks/[name]-[hash].js",
  });
  await bundled.close();
}

/** Declarations that others import, from one to all it imports. */
function declarations() {
  const found = new Set();
  const wanted = ["lib/index.d.ts", "lib/native/index.d.ts"];
  for (let file = wanted.pop(); file !== undefined; file = wanted.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, to] of text("dist", file).matchAll(/(?:from|import\(|import)\s*"(\.[^"]+)"/g))
      wanted.push(path.join(path.dirname(file), to.replace(/\.[tj]s$/, ".d.ts")));
  }
  return [...found];
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
  await bundle(stage);
  for (const file of declarations()) {
    mkdirSync(path.dirname(path.join(stage, "dist", file)), { recursive: true });
    cpSync(path.join(root, "dist", file), path.join(stage, "dist", file));
  }
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
