import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HoneError } from "../errors.ts";
import type { ProblemSource, SourceOptions } from "./problem-source.ts";

/** Whether a recipe's source names a module of the user's rather than a row of the table. */
export function isModule(name: string): boolean {
  return /^(file:|\.{0,2}\/)/.test(name);
}

/**
 * Opens a user's own source: a `.ts` or `.js` module, by file URL or path (relative to the working folder),
 * that exports `openSource(options): ProblemSource`.
 * Throws HONE_ERR_DATA when the module cannot be imported or exports no such function.
 */
export async function openModuleSource(name: string, options: SourceOptions): Promise<ProblemSource> {
  const path = name.startsWith("file:") ? fileURLToPath(name) : resolve(name);
  let module: { readonly openSource?: (options: SourceOptions) => ProblemSource };
  try {
    const { createJiti } = await import("jiti");
    module = createJiti(import.meta.url)(path);
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `cannot import the problem source ${path}: ${String(cause)}`, {
      cause,
    });
  }
  if (typeof module.openSource !== "function") {
    throw new HoneError("HONE_ERR_DATA", `${path} exports no openSource`, {
      hint: "Export function openSource({ seed, ordinal }) that returns a ProblemSource.",
    });
  }
  return module.openSource(options);
}
