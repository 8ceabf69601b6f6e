// npm run build:ts: writes lib/ and recipes/ as JavaScript to dist/, bundled by entry, so that a process loads about ten
// files instead of four hundred. A checkout and the published package run the same files; a checkout also has source maps
// (NODE_OPTIONS=--enable-source-maps, or a debugger). Does not check types: npm run check:types does.
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
 * Packages to bundle, because a process would otherwise load all their files, which are a hundred for zod. zod stays a
 * dependency, because the declarations name its types.
 */
export const BUNDLED = [
  "zod",
  "commander",
  "string-width",
  "strip-ansi",
  "ansi-regex",
  "get-east-asian-width",
];
/** The modules of each program that starts often or must start fast. */
const STARTS = {
  verifier: ["verifier-main", "verifier-worker"].map((name) => `lib/rewards/pool/${name}`),
  watchdog: ["lib/rewards/pool/verifier-watchdog"],
  role: ["lib/fleet/role-main"],
  work: ["actor", "trainer-role", "communicator-transport"].map((name) => `lib/fleet/${name}`),
  judge: ["lib/fleet/verifier-host"],
  command: ["lib/cli/program"],
  recipe: ["lib/config/index"],
  api: ["lib/index"],
  verifiers: ["lib/verifiers/index"],
  template: ["lib/text/chat-template"],
};

const text = (...at) => readFileSync(path.join(root, ...at), "utf8");
const folderOf = (name) => path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** Returns the files below a folder, as paths relative to the checkout. */
const filesBelow = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
    path.join(folder, name),
  );

/** Returns the modules with which a file starts processes or threads of Hone (lib/own-module.ts). */
export function startedModules(file, source) {
  return [...source.matchAll(/\bown(?:Module|Thread)\("([\w-]+)", import\.meta\.url/g)].map(([, name]) =>
    path.join(path.dirname(file), name),
  );
}

/** Matches the import of a module whose name is known only at run time: import(`./${domain}/cases.ts`). */
const CHOSEN = /import\((`\.\/\$\{\w+\}\/([\w-]+))\.ts`\)/g;

/** Returns the modules among which a file chooses at run time. @param folders names of the folders next to it */
export function chosenModules(file, source, folders) {
  const beside = (name) => folders.map((folder) => path.join(path.dirname(file), folder, name));
  return [...source.matchAll(CHOSEN)].flatMap(([, , name]) => beside(name));
}

/** Returns the modules of dist/ that a bench imports directly. */
export function importedByBench(source) {
  const direct = [...source.matchAll(/"\.\.\/dist\/(lib\/[\w/-]+)\.js"/g)].map(([, name]) => name);
  const built = [...source.matchAll(/\bbuilt\("([\w/-]+)\.js"\)/g)].map(([, name]) => `lib/${name}`);
  return [...direct, ...built];
}

const sourcesOfLib = () => filesBelow("lib").filter((file) => file.endsWith(".ts"));

/** Returns all modules with which processes and threads of Hone start. */
const allStarted = () => sourcesOfLib().flatMap((file) => startedModules(file, text(file)));

/**
 * Returns the names of all entries, relative to the checkout and without the extension.
 * @param benches whether to include the modules that bench/ imports; the published package has no bench/.
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

/** True for an import that is not bundled: a module of Node, or of a package outside of BUNDLED. */
const isExternal = (name) =>
  /^[a-z@]/.test(name) && !name.startsWith("@oxc-project/") && !BUNDLED.includes(name.split("/")[0]);

/**
 * Replaces import.meta.url of a module by the path that the module would have in dist/ if it were not bundled, because
 * modules find processes and files of the package relative to it.
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

/** True for modules that run by themselves and are never imported: the command, and the main modules of processes. */
const runsItself = (name) => /^lib\/.*main$|^lib\/.*-(?:worker|watchdog)$|^recipes\//.test(name);

/**
 * Returns the module id of an entry: a separate module that re-exports the file, except for a file that runs by itself.
 * Without it rolldown would load all of an index.ts where a single name is imported from it, and could not put the file into
 * a chunk with its importers.
 */
const entryId = (name) => (runsItself(name) ? fileOf(name) : `${fileOf(name)}${ENTRY}`);
const ENTRY = "?entry";

/** The plugin that makes these modules, and one for each index.ts that is imported on demand. */
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

/** Returns for each module the names of the `starts` that load it before they import anything on demand. */
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
 * Decides which modules share a chunk. Loading one more file takes as long as loading 20 kB more, so the modules that the
 * `starts` load before anything on demand are grouped by the set of starts that load them; rolldown divides the rest.
 */
async function chunkGroups(input, starts) {
  const own = new Set(Object.values(input)); // each stays a separate file: main.js must keep its first line
  const loadedBy = await loadedAtStart(input, starts);
  return [
    { name: (id) => (own.has(id) ? null : (loadedBy.get(id)?.join("-") ?? null)), debugName: "starts" },
  ];
}

/**
 * Writes modules of the checkout, and the modules that they import, as JavaScript.
 * @param input maps each entry's name below `folder` to its source @param places the folder that is dist/ in the paths that
 * replace import.meta.url @param starts modules by the name of their program, which should load few files
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
    // a group contains only the modules that it names, without their imports
    codeSplitting: { groups, includeDependenciesRecursively: false },
  });
  await bundled.close();
  return output.map(({ fileName }) => fileName);
}

/** Writes dist/ of the checkout, or of the package in the folder `into`, and removes files of earlier builds. */
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
