import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { definedRecipe, overrideRecipe, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";

/**
 * The default export of a recipe file, with overrides applied. TypeScript is loaded directly, on any Node; "hone-rl"
 * inside it is this package. Throws HONE_ERR_USAGE if there is no such file or export, ConfigError if it is no
 * recipe; errors of the file itself pass through.
 */
export async function loadRecipe(file: string, assignments: readonly string[] = []): Promise<Recipe> {
  const exported = await loadExport(file);
  if (typeof exported !== "object" || exported === null) {
    throw new HoneError("HONE_ERR_USAGE", `${file} has no recipe as its default export`, {
      hint: "End it with: export default defineRecipe({ ... })",
    });
  }
  const recipe = definedRecipe(exported, file);
  return assignments.length === 0 ? recipe : overrideRecipe(recipe, assignments);
}

/** The default export of a recipe or sweep file. Throws HONE_ERR_USAGE if there is no such file. */
export async function loadExport(file: string): Promise<unknown> {
  const path = resolve(file);
  if (!existsSync(path)) throw new HoneError("HONE_ERR_USAGE", `there is no recipe at ${path}`);
  return importDefault(path);
}

async function importDefault(path: string): Promise<unknown> {
  if (!/\.[cm]?ts$/.test(path))
    return ((await import(pathToFileURL(path).href)) as { default?: unknown }).default;
  const source = import.meta.url.endsWith(".ts");
  const hone = fileURLToPath(new URL(source ? "../index.ts" : "../index.js", import.meta.url));
  const jiti = createJiti(import.meta.url, {
    alias: { "hone-rl": hone },
    interopDefault: false,
    tryNative: !source,
  });
  return ((await jiti.import(path)) as { default?: unknown }).default;
}
