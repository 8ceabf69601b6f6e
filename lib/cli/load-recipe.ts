import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { RunOptions } from "../orchestration/index.ts";

/**
 * The default export of a recipe file, with overrides applied. TypeScript is loaded directly, on any Node; "hone-rl"
 * inside it is this package. Throws HONE_ERR_USAGE if there is no such file or export, ConfigError if it is no
 * recipe; errors of the file itself pass through.
 */
export async function loadRecipe(file: string, assignments: readonly string[] = []): Promise<Recipe> {
  return recipeOf(await loadExport(file), file, assignments);
}

/** What an entry script says: its recipe, and sinks beside it. */
export interface Entry {
  readonly recipe: Recipe;
  readonly sinks: NonNullable<RunOptions["sinks"]>;
}

/** As loadRecipe, with what the file exports as `sinks`. Throws HONE_ERR_USAGE if they are none. */
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
  throw new HoneError("HONE_ERR_USAGE", `${file}: its export "sinks" is no list of sinks`, {
    hint: "A sink has a name and either send, or write and close: docs/how-to-tracker.md.",
  });
}

/** The default export of a recipe or sweep file. Throws HONE_ERR_USAGE if there is no such file. */
export async function loadExport(file: string): Promise<unknown> {
  return (await importExisting(file)).default;
}

async function importExisting(file: string): Promise<Exports> {
  const path = resolve(file);
  if (!existsSync(path)) throw new HoneError("HONE_ERR_USAGE", `there is no recipe at ${path}`);
  return importModule(path);
}

interface Exports {
  readonly default?: unknown;
  readonly sinks?: unknown;
}

async function importModule(path: string): Promise<Exports> {
  if (!/\.[cm]?ts$/.test(path)) return (await import(pathToFileURL(path).href)) as Exports;
  const { createJiti } = await import("jiti");
  const source = import.meta.url.endsWith(".ts");
  const door = asksForRecipesOnly(readFileSync(path, "utf8")) ? "../config/index" : "../index";
  const hone = fileURLToPath(new URL(`${door}.${source ? "ts" : "js"}`, import.meta.url));
  const jiti = createJiti(import.meta.url, {
    alias: { "hone-rl": hone },
    interopDefault: false,
    tryNative: !source,
  });
  return (await jiti.import(path)) as Exports;
}

/**
 * Whether a file imports `defineRecipe` and nothing else: then it is given the room that has it, a fifth of the package.
 * Whatever is in doubt, be it the word in a comment, counts as no.
 */
function asksForRecipesOnly(text: string): boolean {
  const words = text.match(/\b(?:import|require)\b|\bfrom\s*["'`]/g) ?? [];
  return words.length === 2 && /^import \{ defineRecipe \} from "hone-rl";$/m.test(text);
}
