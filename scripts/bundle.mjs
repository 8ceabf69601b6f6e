// npm run build:ts: lib/ and recipes/ as JavaScript in dist/, bundled by entry, so that a process loads some ten files
// instead of four hundred. A checkout and the published package run the same files; a checkout has source maps too
// (NODE_OPTIONS=--enable-source-maps, or a debugger). Types are not checked here: npm run check:types does.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const ENTRIES = [
  "lib/index",
  "lib/native/index",
  "lib/text/chat-template",
  "lib/verifiers/index",
  "lib/cli/main",
  "lib/config/index", // lib/cli/load-recipe.ts imports it by its path
];
/**
 * Packages that are put into the bundle, because a process would otherwise load all their files: for zod a hundred. zod
 * stays a dependency, since the declarations name its types.
 */
export const BUNDLED = [
  "zod",
  "commander",
  "string-width",
  "strip-ansi",
  "ansi-regex",
  "get-east-asian-width",
];
/** Programs that start often or must start fast, by name, each with its modules. */
const STARTS = {
  verifier: ["verifier-main", "verifier-worker", "verifier-watchdog"].map(
    (name) => `lib/rewards/pool/${name}`,
  ),
  command: ["lib/cli/program"],
  recipe: ["lib/config/index"],
  api: ["lib/index"],
  verifiers: ["lib/verifiers/index"],
  template: ["lib/text/chat-template"],
};

const text = (...at) => readFileSync(path.join(root, ...at), "utf8");
const folderOf = (name) => path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** Files below a folder of the checkout, relative to it. */
const filesBelow = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
    path.join(folder, name),
  );

/** The modules with which Hone's own processes and threads begin (lib/own-module.ts). */
export function startedModules(file, source) {
  return [...source.matchAll(/\bown(?:Module|Thread)\("([\w-]+)", import\.meta\.url/g)].map(([, name]) =>
    path.join(path.dirname(file), name),
  );
}

/** Matches the import of a module whose name is known only at run time: import(`./${domain}/cases.ts`). */
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

const sourcesOfLib = () => filesBelow("lib").filter((file) => file.endsWith(".ts"));

/** All modules with which Hone's own processes and threads begin. */
const allStarted = () => sourcesOfLib().flatMap((file) => startedModules(file, text(file)));

/**
 * Names of all entries, relative to the checkout and without the extension.
 * @param benches whether those that bench/ imports are among them; the published package has no bench/.
 */
function entryNames(benches) {
  const sources = sourcesOfLib();
  const foldersBeside = (file) =>
    readdirSync(path.join(root, path.dirname(file)), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  const chosen = sources
    .flatMap((file) => chosenModules(file, text(file), foldersBeside(file)))
    .filter((name) => existsSync(path.join(root, `${name}.ts`)));
  const benched = filesBelow("bench")
    .filter((file) => benches && file.endsWith(".mjs"))
    .flatMap((file) => importedByBench(text(file)));
  const recipes = filesBelow("recipes")
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length));
  return [...new Set([...ENTRIES, ...allStarted(), ...chosen, ...benched, ...recipes])].sort();
}

/** True if an import stays an import: one of Node's modules, or of a package that is not bundled. */
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

const fileOf = (name) => path.join(root, `${name}.ts`);

/** Modules that do something by themselves, and that no other imports: the command, and what processes begin with. */
const runsItself = (name) => /^lib\/.*main$|^lib\/.*-(?:worker|watchdog)$|^recipes\//.test(name);

/**
 * The module of an entry: one of its own before the file, except for a file that runs by itself. Without it rolldown would
 * load all of an index.ts wherever a name is imported from it, and could not put the file beside those that import it.
 */
const entryId = (name) => (runsItself(name) ? fileOf(name) : `${fileOf(name)}${ENTRY}`);
const ENTRY = "?entry";

/** What makes those modules, and one for each index.ts that is imported on demand. */
const entries = {
  name: "entries",
  resolveId: (name, importer, { kind }) => {
    if (name.endsWith(ENTRY)) return name;
    if (importer === undefined || kind !== "dynamic-import" || !name.endsWith("/index.ts")) return undefined;
    return `${path.resolve(path.dirname(importer), name)}${ENTRY}`;
  },
  load: (id) => {
    if (!id.endsWith(ENTRY)) return undefined;
    return `export * from ${JSON.stringify(id.slice(0, -ENTRY.length))};`;
  },
};

/** The options that every build of this script shares. */
const build = (input, plugins = []) =>
  rolldown({
    input,
    platform: "node",
    external: isExternal,
    preserveEntrySignatures: "allow-extension",
    treeshake: { moduleSideEffects: false }, // no module of lib/ is imported for its side effects
    transform: { target: "es2022" },
    checks: { ineffectiveDynamicImport: false },
    plugins: [entries, ...plugins],
  });

/** Names of the `starts` that load a module before they import anything on demand, by the module. */
async function loadedAtStart(input, starts) {
  const built = await build(input);
  const { output } = await built.generate({ format: "esm" });
  await built.close();
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const loadedBy = new Map();
  for (const [name, modules] of Object.entries(starts)) {
    const loaded = new Set(output.filter(({ facadeModuleId }) => modules.includes(facadeModuleId)));
    if (loaded.size === 0)
      throw new Error(`no chunk of ${modules.join(" or ")}: STARTS names what is not built`);
    for (const { imports } of loaded)
      for (const of of imports) if (chunks.has(of)) loaded.add(chunks.get(of));
    for (const id of new Set([...loaded].flatMap(({ moduleIds }) => moduleIds)))
      loadedBy.set(id, [...(loadedBy.get(id) ?? []), name]);
  }
  return loadedBy;
}

/**
 * Which modules share a chunk. A file costs as much as 20 kB in it, so what `starts` load before anything on demand is
 * divided by which of them load it, in few files; rolldown divides the rest.
 */
async function chunkGroups(input, starts) {
  const own = new Set(Object.values(input)); // each of these stays a file of its own: main.js must keep its first line
  const loadedBy = await loadedAtStart(input, starts);
  return [
    { name: (id) => (own.has(id) ? null : (loadedBy.get(id)?.join("-") ?? null)), debugName: "starts" },
  ];
}

/**
 * Writes modules of the checkout, with what they import, as JavaScript.
 * @param input name below `folder` of each entry, to its source @param places folder that stands for dist/ in what modules
 * take for their own places @param starts by name, modules whose start loads few files
 * @returns names of the files, below `folder`
 */
export async function bundle(input, folder, { maps = false, places = folder, starts = {} } = {}) {
  const groups = await chunkGroups(input, starts);
  const bundled = await build(input, [keepPlaces(folder, places)]);
  const { output } = await bundled.write({
    dir: folder,
    format: "esm",
    sourcemap: maps,
    entryFileNames: "[name].js",
    chunkFileNames: ({ name }) => `lib/chunks/${name.split("~")[0]}-[hash].js`,
    // the groups choose each chunk's modules one by one
    codeSplitting: { groups, includeDependenciesRecursively: false },
  });
  await bundled.close();
  return output.map(({ fileName }) => fileName);
}

/** Writes dist/ of a checkout, or of the package where `into` names its folder; removes what an earlier build left. */
export async function writeDist(into = root, { maps = true, benches = true } = {}) {
  const dist = path.join(into, "dist");
  const sourcesOf = (names) => Object.fromEntries(names.map((name) => [name, entryId(name)]));
  const starts = Object.fromEntries(
    Object.entries(STARTS).map(([name, modules]) => [
      name,
      modules.flatMap((module) => [fileOf(module), entryId(module)]),
    ]),
  );
  const written = new Set(await bundle(sourcesOf(entryNames(benches)), dist, { maps, starts }));
  for (const part of ["lib", "recipes"])
    for (const entry of readdirSync(path.join(dist, part), { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isFile() && !written.has(path.relative(dist, file))) rmSync(file);
    }
  writeLanguages(dist);
  mkdirSync(path.join(dist, "licenses"), { recursive: true });
  for (const name of BUNDLED) cpSync(licenceOf(name), path.join(dist, "licenses", `${name}.txt`));
}

function licenceOf(name) {
  const folder = path.join(root, "node_modules", name);
  return path.join(
    folder,
    readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)),
  );
}

/**
 * Writes one file with the langdetect package's profiles and classes of Han characters (lib/domains/.../language.ts),
 * and its licence.
 */
function writeLanguages(dist) {
  const from = folderOf("langdetect");
  const read = (file) => JSON.parse(readFileSync(path.join(from, file), "utf8"));
  const profiles = readdirSync(path.join(from, "profiles"))
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => [path.basename(name, ".json"), read(path.join("profiles", name))]);
  const languages = { profiles: Object.fromEntries(profiles), han: read("res/cjk.json") };
  rmSync(path.join(dist, "langdetect"), { recursive: true, force: true });
  mkdirSync(path.join(dist, "langdetect"), { recursive: true });
  writeFileSync(path.join(dist, "langdetect/languages.json"), JSON.stringify(languages));
  cpSync(path.join(from, "LICENSE"), path.join(dist, "langdetect/LICENSE"));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await writeDist();
