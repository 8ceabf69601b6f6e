// npm run build:ts: lib/ and recipes/ as JavaScript in dist/, bundled by entry, so that a process loads some twenty files
// instead of four hundred. A checkout and the published package run the same files; a checkout has source maps too
// (NODE_OPTIONS=--enable-source-maps, or a debugger). Types are not checked here: npm run check:types does.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const ENTRIES = [
  "lib/index",
  "lib/native/index",
  "lib/cli/main",
  "lib/config/index", // lib/cli/load-recipe.ts imports it by its place
];
/**
 * Packages that become part of the bundle: of zod's hundred files a process would load each, its fifty languages too.
 * It stays a dependency, since declarations name its types.
 */
const BUNDLED = ["zod"];

const text = (...at) => readFileSync(path.join(root, ...at), "utf8");
const folderOf = (name) => path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

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
const CHOSEN = /import\((`\.\/\$\{\w+\}\/([\w-]+))\.ts`\)/g;

/** Modules that a file chooses among at run time. @param folders names of the folders beside it */
export function chosenModules(file, source, folders) {
  const beside = (name) => folders.map((folder) => path.join(path.dirname(file), folder, name));
  return [...source.matchAll(CHOSEN)].flatMap(([, , name]) => beside(name));
}

/** Modules of dist/ that a bench imports by itself. */
export function importedByBench(source) {
  const direct = [...source.matchAll(/"\.\.\/dist\/(lib\/[\w/-]+)\.js"/g)].map(([, name]) => name);
  const built = [...source.matchAll(/\bbuilt\("([\w/-]+)\.js"\)/g)].map(([, name]) => `lib/${name}`);
  return [...direct, ...built];
}

/** Names of all entries, relative to the checkout and without the extension. */
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

/** Whether an import stays one: of Node, or of a package that is not bundled. */
const isExternal = (name) =>
  /^[a-z@]/.test(name) && !name.startsWith("@oxc-project/") && !BUNDLED.includes(name.split("/")[0]);

/**
 * Makes import.meta.url of a module say where it would lie in dist/ by itself: modules find processes and files of the
 * package by that.
 */
const keepPlaces = (folder, places) => ({
  name: "keep-places",
  transform: (code, id) => {
    if (!["lib", "recipes"].includes(path.relative(root, id).split(path.sep)[0])) return undefined;
    const place = path.relative(root, id).replace(/\.ts$/, ".js");
    const chosen = code.replaceAll(CHOSEN, "import(new URL($1.js`, import.meta.url).href)");
    return { code: chosen.replaceAll("import.meta.url", `__HONE_PLACE__("${place}")`), map: null };
  },
  renderChunk: (code, chunk) => {
    const here = path.dirname(path.join(folder, chunk.fileName));
    const placed = code.replaceAll(/__HONE_PLACE__\("([^"]+)"\)/g, (_, place) => {
      const from = path.relative(here, path.join(places, place));
      return `new URL("${from.startsWith(".") ? from : `./${from}`}", import.meta.url).href`;
    });
    return { code: placed, map: null };
  },
});

/**
 * Writes modules of the checkout, with what they import, as JavaScript.
 * @param input name below `folder` of each entry, to its source @param places folder that stands for dist/ in what modules
 * take for their own places
 * @returns names of the files, below `folder`
 */
export async function bundle(input, folder, { maps = false, places = folder } = {}) {
  const bundled = await rolldown({
    input,
    platform: "node",
    external: isExternal,
    transform: { target: "es2022" },
    plugins: [keepPlaces(folder, places)],
  });
  const { output } = await bundled.write({
    dir: folder,
    format: "esm",
    sourcemap: maps,
    entryFileNames: "[name].js",
    chunkFileNames: "lib/chunks/[name]-[hash].js",
  });
  await bundled.close();
  return output.map(({ fileName }) => fileName);
}

/** Writes dist/ of a checkout, or of the package where `into` names its folder; removes what an earlier build left. */
export async function writeDist(into = root, { maps = true } = {}) {
  const dist = path.join(into, "dist");
  const entries = Object.fromEntries(entryNames().map((name) => [name, path.join(root, `${name}.ts`)]));
  const written = new Set(await bundle(entries, dist, { maps }));
  for (const part of ["lib", "recipes"])
    for (const entry of readdirSync(path.join(dist, part), { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isFile() && !written.has(path.relative(dist, file))) rmSync(file);
    }
  for (const part of ["profiles", "res", "LICENSE"])
    cpSync(path.join(folderOf("langdetect"), part), path.join(dist, "langdetect", part), { recursive: true });
  mkdirSync(path.join(dist, "licenses"), { recursive: true });
  for (const name of BUNDLED)
    cpSync(path.join(folderOf(name), "LICENSE"), path.join(dist, "licenses", `${name}.txt`));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await writeDist();
