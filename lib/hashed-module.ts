import { fileURLToPath } from "node:url";
import { HoneError } from "./errors.ts";
import { fileHash } from "./trust.ts";
import { exportPlace, importUserModule, type ModuleUse } from "./user-module.ts";

/** A user's module with the hash of its file when the recipe was defined. */
export interface HashedModule {
  /** URL of the module's file; "#name" selects an export other than the default one. */
  readonly module: string;
  /** Hash of the file, hexadecimal; the hash does not cover its imports. */
  readonly sha256: string;
}

type AnyFunction = (...given: never[]) => unknown;

const loaded = new Map<string, Promise<AnyFunction>>();

/**
 * The exported function of a module, cached once loaded. Throws an error with the given code for a file that does not
 * exist, has another hash, cannot be imported, or exports no such function.
 */
export function loadHashed<T extends AnyFunction>(
  { module, sha256 }: HashedModule,
  use: ModuleUse & { readonly what: string },
): Promise<T> {
  const key = `${use.what} ${sha256} ${module}`;
  const known = loaded.get(key) ?? imported(module, sha256, use);
  loaded.set(key, known);
  known.catch(() => loaded.delete(key)); // the user may repair the file: a later call tries again
  return known as Promise<T>;
}

async function imported(place: string, sha256: string, use: ModuleUse): Promise<AnyFunction> {
  const { url, name = "default" } = exportPlace(place, use);
  const path = fileURLToPath(url);
  const found = hashOf(path, use);
  if (found !== sha256) {
    const message = `${path} has hash ${found}; the recipe has recorded ${sha256}`;
    throw unloadable(use, message, "Restore the file as it was, or define the recipe again.");
  }
  // the hash in the URL makes Node import a changed file again
  const exports = await importUserModule(`${url}?sha256=${sha256}`, use);
  const own = exports[name];
  if (typeof own === "function") return own as AnyFunction;
  const others = Object.keys(exports).filter((each) => typeof exports[each] === "function");
  const message = `${path} exports no function ${name} (its functions: ${others.join(", ") || "none"})`;
  throw unloadable(use, message, 'Export it by default, or name it after #: "./mine.ts#name".');
}

function hashOf(path: string, use: ModuleUse): string {
  try {
    return fileHash(path);
  } catch (cause) {
    throw unloadable(use, `${path} cannot be read: ${String(cause)}`, use.hint, cause);
  }
}

function unloadable({ code, what }: ModuleUse, message: string, hint: string, cause?: unknown): HoneError {
  return new HoneError(code, `${what}: ${message}`, { hint, ...(cause !== undefined && { cause }) });
}
