import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Recipe } from "../config/index.ts";
import { ConfigError, HoneError } from "../errors.ts";
import type { RunOptions } from "../orchestration/index.ts";
import { packageRoot } from "../package-root.ts";
import { isDataRecipe } from "./data-recipe.ts";

/**
 * Loads a recipe and applies overrides: the default export of a script, or the contents of YAML or JSON. Loads
 * TypeScript directly, on any Node; "hone-rl" inside it resolves to this package. Throws HONE_ERR_USAGE if the file
 * or export is missing or cannot be loaded, ConfigError if it is not a recipe; errors of the script itself pass
 * through.
 */
export async function loadRecipe(file: string, assignments: readonly string[] = []): Promise<Recipe> {
  return recipeOf(await loadExport(file), file, assignments);
}

/** The exports of an entry script: a recipe, and sinks if there are any. */
export interface Entry {
  readonly recipe: Recipe;
  readonly sinks: NonNullable<RunOptions["sinks"]>;
}

/** Like loadRecipe, and also returns the file's exported `sinks`. Throws HONE_ERR_USAGE if they are not sinks. */
export async function loadEntry(file: string, assignments: readonly string[] = []): Promise<Entry> {
  const exported = await importExisting(file);
  return {
    recipe: await recipeOf(exported.default, file, assignments),
    sinks: sinksOf(exported.sinks, file),
  };
}

async function recipeOf(exported: unknown, file: string, assignments: readonly string[]): Promise<Recipe> {
  const { definedRecipe, overrideRecipe } = await import("../config/index.ts");
  if (typeof exported !== "object" || exported === null) {
    throw new HoneError("HONE_ERR_USAGE", `${file} has no recipe as its default export`, {
      hint: "End it with: export default defineRecipe({ ... })",
    });
  }
  const recipe = definedRecipe(exported, file);
  return assignments.length === 0 ? recipe : overrideRecipe(recipe, assignments);
}

function sinksOf(sinks: unknown, file: string): Entry["sinks"] {
  const isSink = (sink: unknown): boolean =>
    typeof sink === "object" &&
    sink !== null &&
    "name" in sink &&
    typeof sink.name === "string" &&
    ("send" in sink ? typeof sink.send === "function" : "write" in sink && "close" in sink);
  if (sinks === undefined) return [];
  if (Array.isArray(sinks) && sinks.every(isSink)) return sinks as Entry["sinks"];
  throw new HoneError("HONE_ERR_USAGE", `${file}: its export "sinks" is not a list of sinks`, {
    hint: "A sink has a name and either send, or write and close: docs/how-to/write-a-tracker.md.",
  });
}

/** The default export of a recipe or sweep file. Throws HONE_ERR_USAGE if there is no such file or it is no script. */
export async function loadExport(file: string): Promise<unknown> {
  return (await importExisting(file)).default;
}

/** True if a file name ends as that of an entry script. */
const isScript = (name: string): boolean => /\.[cm]?[jt]s$/.test(name);

/** Larger than any recipe. */
const MOST_BYTES = 2 ** 20;

/** True if a file is a recipe and not data: decided by its name, and for .json by the field `domains`, which data files lack. */
export function isRecipe(file: string): boolean {
  if (!file.endsWith(".json")) return isScript(file) || isDataRecipe(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > MOST_BYTES) return false;
  return /^\uFEFF?\s*\{(?=.*"domains"\s*:\s*\{)/s.test(readFileSync(file, "utf8"));
}

async function importExisting(file: string): Promise<Exports> {
  const path = resolve(file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw missing(path);
  if (found.isFile() && isDataRecipe(path)) return { default: await dataRecipe(file) };
  if (!found.isFile() || !isScript(path)) {
    throw new HoneError("HONE_ERR_USAGE", `${path} is ${found.isDirectory() ? "a folder" : "no recipe"}`, {
      hint: "A recipe is a .ts, .mts, .cts, .js, .mjs or .cjs file that ends with: export default defineRecipe({ ... }), or a .yaml, .yml or .json file",
    });
  }
  try {
    return await importModule(path);
  } catch (error) {
    throw loadFault(path, error as NodeJS.ErrnoException) ?? error;
  }
}

/** Throws ConfigError that says line and column of every wrong value. */
async function dataRecipe(file: string): Promise<Recipe> {
  const { defineRecipe } = await import("../config/index.ts");
  const { readDataRecipe } = await import("./data-recipe.ts");
  const { besideFile } = await import("./recipe-paths.ts");
  const { value, located } = await readDataRecipe(file);
  try {
    return defineRecipe(besideFile(value, file) as Parameters<typeof defineRecipe>[0], file);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(file, located(error.issues)) : error;
  }
}

/** Names of at most five files that look like recipes. */
function recipesIn(folder: string): string[] {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  const names = readdirSync(folder).sort();
  return names.filter((name) => !name.endsWith(".d.ts") && isRecipe(join(folder, name))).slice(0, 5);
}

function missing(path: string): HoneError {
  const own = join(packageRoot(), "recipes", basename(path));
  const beside = recipesIn(dirname(path));
  const hint = existsSync(own)
    ? `The package has a recipe of that name: ${relative("", own)}`
    : beside.length > 0
      ? `In that folder: ${beside.join(", ")}.`
      : `\`npx hone init\` writes a recipe; the package's recipes are in ${relative("", dirname(own)) || "."}.`;
  return new HoneError("HONE_ERR_USAGE", `there is no recipe at ${path}`, { hint });
}

/** Explains why a script could not be loaded; undefined for an error that its own code threw. */
function loadFault(path: string, error: NodeJS.ErrnoException): HoneError | undefined {
  if (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND") {
    const [missing] = error.message.split("\n");
    return new HoneError("HONE_ERR_USAGE", `${path} cannot be loaded: ${missing}`, {
      hint: "Install what it imports in its folder (for hone-rl: npm install hone-rl, or its tarball), or correct the path.",
    });
  }
  const typed = /^ParseError: (.*?)\s*\n\s*(\S.*):(\d+):\d+$/s.exec(error.message);
  if (typed) return new HoneError("HONE_ERR_USAGE", `${typed[2]}, line ${typed[3]}: ${typed[1]}`);
  return error instanceof SyntaxError && !isThrownByCode(error) ? syntaxFault(path, error) : undefined;
}

/** True if user code threw the error, for example JSON.parse in a recipe: its stack then shows where. */
const isThrownByCode = ({ stack = "" }: Error): boolean =>
  /^ {4}at (?!.*(?:node:|load-recipe\.))/m.test(stack);

/** Asks `node --check` where the syntax error is, because Node's error for the import names neither file nor line. */
function syntaxFault(path: string, { message }: SyntaxError): HoneError {
  const { stderr } = spawnSync(process.execPath, ["--check", path], { encoding: "utf8" });
  const line = /^\S.*:(\d+)$/m.exec(stderr)?.[1];
  const where = line === undefined ? `${path}, or a module that it imports` : `${path}, line ${line}`;
  return new HoneError("HONE_ERR_USAGE", `${where}: ${message}`);
}

interface Exports {
  readonly default?: unknown;
  readonly sinks?: unknown;
}

async function importModule(path: string): Promise<Exports> {
  if (!/\.[cm]?ts$/.test(path)) return (await import(pathToFileURL(path).href)) as Exports;
  const { createJiti } = await import("jiti");
  const isSource = import.meta.url.endsWith(".ts");
  const entryPoint = asksForRecipesOnly(readFileSync(path, "utf8")) ? "../config/index" : "../index";
  // Passes the loaded package to jiti, which would otherwise compile it a second time from source.
  const hone: unknown = await import(
    new URL(`${entryPoint}.${isSource ? "ts" : "js"}`, import.meta.url).href
  );
  const jiti = createJiti(import.meta.url, {
    virtualModules: { "hone-rl": hone },
    interopDefault: false,
    tryNative: !isSource,
  });
  return (await jiti.import(path)) as Exports;
}

/**
 * True if a file imports only `defineRecipe` and types: it then gets the config module alone, a fifth of the package.
 * False in doubt, for instance if the word occurs in a comment.
 */
function asksForRecipesOnly(text: string): boolean {
  const known = /^import (?:type \{[^}]*\}|\{ defineRecipe(?:, type \w+)* \}) from "hone-rl";$/gm;
  return !/\b(?:import|require)\b|\bfrom\s*["'`]/.test(text.replaceAll(known, ""));
}
