import { HoneError } from "../errors.ts";
import { importUserModule, type ModuleUse, sourceUrl } from "../user-module.ts";
import type { ProblemSource, SourceOptions } from "./problem-source.ts";

const USE: ModuleUse = {
  what: "problem source",
  code: "HONE_ERR_DATA",
  hint: "Give a path relative to the working folder; the module must export openSource({ seed, ordinal }).",
};

/**
 * Opens a user's own source: a `.ts` or `.js` module, by file URL or path (relative to the working folder),
 * that exports `openSource(options): ProblemSource`.
 * Throws HONE_ERR_DATA when the module cannot be imported or exports no such function.
 */
export async function openModuleSource(name: string, options: SourceOptions): Promise<ProblemSource> {
  const { openSource } = await importUserModule(sourceUrl(name), USE);
  if (typeof openSource !== "function") {
    throw new HoneError(USE.code, `${USE.what}: ${name} exports no openSource`, {
      hint: "Export function openSource({ seed, ordinal }) that returns a ProblemSource.",
    });
  }
  return openSource(options) as ProblemSource;
}
