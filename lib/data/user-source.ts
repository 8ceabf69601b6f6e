import { pathToFileURL } from "node:url";
import { HoneError } from "../errors.ts";
import { importUserModule, type ModuleUse } from "../user-module.ts";
import type { ProblemSource, SourceOptions } from "./problem-source.ts";

/** Whether a recipe's source names a module of the user's rather than a row of the table. */
export function isModule(name: string): boolean {
  return /^(file:|\.{0,2}\/)/.test(name);
}

const USE: ModuleUse = {
  what: "problem source",
  code: "HONE_ERR_DATA",
  hint: "A path is from the working folder; the module must export openSource({ seed, ordinal }).",
};

/**
 * Opens a user's own source: a `.ts` or `.js` module, by file URL or path (relative to the working folder),
 * that exports `openSource(options): ProblemSource`.
 * Throws HONE_ERR_DATA when the module cannot be imported or exports no such function.
 */
export async function openModuleSource(name: string, options: SourceOptions): Promise<ProblemSource> {
  const url = name.startsWith("file:") ? name : pathToFileURL(name).href;
  const { openSource } = await importUserModule(url, USE);
  if (typeof openSource !== "function") {
    throw new HoneError(USE.code, `${USE.what}: ${name} exports no openSource`, {
      hint: "Export function openSource({ seed, ordinal }) that returns a ProblemSource.",
    });
  }
  return openSource(options) as ProblemSource;
}
