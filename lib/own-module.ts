import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { packageRoot } from "./package-root.ts";

/** The main module of a process or thread of this package, and the options that Node needs to run it. */
export interface OwnModule {
  readonly path: string;
  readonly execArgv: readonly string[];
}

/**
 * Finds the module `name`, without its extension, beside `from`, a module's URL. From source this is the
 * TypeScript file with its loader. With HONE_FROM_DIST=1, which says that dist/ is compiled from these
 * sources, it is the compiled file, which starts in a third of the time.
 */
export function ownModule(name: string, from: string): OwnModule {
  const path = compiled(name, from);
  return path === undefined
    ? { path: source(name, from), execArgv: ["--import", resolved("tsx")] }
    : { path, execArgv: [] };
}

/** Starts a worker thread that runs the module `name` beside `from`. */
export function ownThread(name: string, from: string, options: WorkerOptions): Worker {
  const path = compiled(name, from);
  if (path !== undefined) return new Worker(path, { ...options, execArgv: [] });
  // In a thread, --import does not activate tsx if the process has loaded it already.
  const tsx = resolved("tsx/esm/api").replace(/\.cjs$/, ".mjs");
  const url = pathToFileURL(source(name, from));
  const script = `import("${tsx}").then(({ register }) => { register(); return import("${url}"); })`;
  return new Worker(script, { ...options, eval: true, execArgv: [] });
}

function compiled(name: string, from: string): string | undefined {
  if (!from.endsWith(".ts")) return fileURLToPath(new URL(`${name}.js`, from));
  if (process.env["HONE_FROM_DIST"] !== "1") return undefined;
  const root = packageRoot();
  const path = join(root, "dist", relative(root, fileURLToPath(new URL(`${name}.js`, from))));
  return existsSync(path) ? path : undefined; // a copy of lib/ elsewhere has no dist/
}

const source = (name: string, from: string): string => fileURLToPath(new URL(`${name}.ts`, from));

/** Resolves a package independently of the working directory. */
const resolved = (name: string): string => pathToFileURL(createRequire(import.meta.url).resolve(name)).href;
