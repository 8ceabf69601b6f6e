import { HoneError } from "../errors.ts";

/**
 * Imports an optional peer package, which is not installed by default.
 * Rejects with HONE_ERR_USAGE and the command that installs it.
 */
export async function optionalPackage(name: string, purpose: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    throw new HoneError("HONE_ERR_USAGE", `${purpose} needs the package ${name}, which is not installed`, {
      hint: `npm install ${name}`,
      cause,
    });
  }
}
