import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type ErrorCode, HoneError } from "./errors.ts";

/** The purpose of a user's module, for error messages. */
export interface ModuleUse {
  /** Name of the module's use for messages: "objective.slopes", "suite". Without it the caller adds a name. */
  readonly what?: string;
  readonly code: ErrorCode;
  /** Hint for a module that cannot be imported. */
  readonly hint: string;
}

/** Exports of a module by name. */
export type ModuleExports = Readonly<Record<string, unknown>>;

/** True if a text names a module: by file URL, or by a path ("./mine.ts", "/srv/mine.ts"). */
export const isModulePlace = (place: string): boolean => /^(?:file:|\.{0,2}\/)/.test(place);

/** True for a URL that contains code, or loads it from a server: data:, blob:, http:, https: or node:. */
export const isForeignUrl = (place: string): boolean => /^\s*(?:data|blob|https?|node):/i.test(place);

/** The URL of a module that a recipe's source names: # is part of the path. */
export const sourceUrl = (place: string): string =>
  place.startsWith("file:") ? place : pathToFileURL(place).href;

/**
 * The URL of a module given as a path from the working folder or as a file URL; keeps the export's name after
 * #.
 */
export function moduleUrl(place: string): string {
  if (place.startsWith("file:")) return place;
  const [path, name] = place.split("#", 2) as [string, string | undefined];
  return `${pathToFileURL(path).href}${name === undefined ? "" : `#${name}`}`;
}

/**
 * The absolute path and the function's name in "rewards.py#accuracy"; the name is "" if absent. Throws on a
 * bad file URL.
 */
export function pythonPlace(place: string): { readonly file: string; readonly name: string } {
  const [path, name = ""] = place.split("#", 2) as [string, string | undefined];
  return { file: path.startsWith("file:") ? fileURLToPath(path) : resolve(path), name };
}

/**
 * Imports a user's module by file URL; only the command line imports recipes in another way. `.ts` works on
 * every supported Node. A URL with a query is a separate module, evaluated again. The caller must have
 * checked trust (trust.ts). Throws an error with the given code and the import's exception as its cause, and
 * one for any other URL: data: and http: contain code that is in no file.
 */
export async function importUserModule(url: string, use: ModuleUse): Promise<ModuleExports> {
  if (!isFileUrl(url)) throw notAFile(url, use);
  const file = fileAt(url, use);
  if (!existsSync(file)) throw refusal(use, `${file} cannot be imported: the file does not exist`);
  try {
    return await imported(url);
  } catch (cause) {
    throw refusal(use, `${file} cannot be imported: ${said(cause)}`, cause);
  }
}

/**
 * The URL and the export's name that "file:///srv/loss.ts#name" stands for. Throws an error with the code of
 * `use` if the name has an invalid % escape.
 */
export function exportPlace(place: string, use: ModuleUse): { readonly url: string; readonly name?: string } {
  const [url, name] = place.split("#", 2) as [string, string | undefined];
  if (!name) return { url };
  const decoded = unescaped(name);
  if (decoded !== undefined) return { url, name: decoded };
  throw refusal({ ...use, hint: "Write %25 for a percent sign." }, `${fileAt(url, use)}: ${badEscape(name)}`);
}

/** Why the text after # in a module's place is not an export name; undefined if it is valid, or absent. */
export function exportNameFault(place: string): string | undefined {
  const [, name = ""] = place.split("#", 2);
  return unescaped(name) === undefined ? `${badEscape(name)}; write %25 for a percent sign` : undefined;
}

const badEscape = (name: string): string => `the name #${name} has a % that is not part of a %XX escape`;

function unescaped(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Errors of Node for TypeScript that jiti can load, raised before any line of the module has run. */
const NOT_FOR_NODE = [
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", // an enum
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
  "ERR_MODULE_NOT_FOUND", // "./rows" for ./rows.ts
];

/** Node itself strips types from 22.18 on. */
async function imported(url: string): Promise<ModuleExports> {
  const { pathname, search } = new URL(url);
  const stripsTypes = Boolean((process.features as { typescript?: unknown }).typescript);
  const isTyped = /\.[cm]?ts$/.test(pathname);
  try {
    if (!isTyped || stripsTypes) return await import(url);
  } catch (error) {
    if (!isForJiti(error, isTyped)) throw error;
  }
  const { createJiti } = await import("jiti");
  // jiti ignores the query of a URL; without its cache it evaluates the module again
  return await createJiti(import.meta.url, { moduleCache: search === "" }).import(url);
}

/**
 * Node reports an `export` as a syntax error if package.json says "commonjs", as npm init writes it; jiti
 * loads such a file.
 */
function isForJiti(error: unknown, isTyped: boolean): boolean {
  if (error instanceof SyntaxError) return !isThrownByCode(error);
  return isTyped && NOT_FOR_NODE.includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

/**
 * True for a syntax error that running code throws, such as JSON.parse in the module. A syntax error of the
 * module itself has only frames of Node and of its importers.
 */
const isThrownByCode = ({ stack = "" }: SyntaxError): boolean => /^ {4}at (?!async |.*node:)/m.test(stack);

function notAFile(url: string, use: ModuleUse): HoneError {
  const hint = 'Put the code into a file and name that: "./mine.ts", "/srv/mine.ts" or file:///srv/mine.ts.';
  return refusal({ ...use, hint }, `${url.slice(0, 60)} is not a file; only files are imported`);
}

const MOST_CHARS = 200;
const isFileUrl = (url: string): boolean => url.startsWith("file:");

/** The user's spelling of a module's place. Throws an error with the given code for a URL that cannot be a file. */
function fileAt(url: string, use: ModuleUse): string {
  if (!isFileUrl(url)) return url.slice(0, MOST_CHARS);
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw refusal(use, `${url} is not a file URL: ${said(cause)}`, cause);
  }
}

const said = (thrown: unknown): string =>
  thrown instanceof Error && thrown.name === "Error" ? thrown.message : String(thrown);

function refusal({ what, code, hint }: ModuleUse, message: string, cause?: unknown): HoneError {
  return new HoneError(code, what === undefined ? message : `${what}: ${message}`, {
    hint,
    ...(cause !== undefined && { cause }),
  });
}
