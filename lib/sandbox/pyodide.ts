import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../package-root.ts";
import { HARNESS } from "./harness.ts";
import { STAR_MODULES } from "./preamble.ts";
import { unusable } from "./process-sandbox.ts";
import { CHILD, CHILD_PYTHON } from "./pyodide-child.ts";
import { type Readiness, STARVED_TIMES } from "./python-sandbox.ts";
import { computingFilter } from "./seccomp.ts";
import { Zygote } from "./zygote.ts";
import { ZygoteSandbox } from "./zygote-sandbox.ts";

/**
 * CPython compiled to WebAssembly, in a Node process that is forked for each run. A program's process may only
 * compute, and read and write its own descriptors: the kernel refuses every other call.
 */
export class PyodideSandbox extends ZygoteSandbox {
  readonly name = "wasm";

  protected open(): Zygote {
    const module = pyodideModule()!;
    const folder = `${dirname(module)}/`;
    const flags = [
      permission(),
      `--allow-fs-read=${folder}*`,
      "--allow-addons",
      "--disallow-code-generation-from-strings",
      "--no-warnings",
      // As few threads as possible: a forked process does not have them, and would wait for their work.
      "--v8-pool-size=1",
      "--single-threaded-gc",
    ];
    const script = `${HARNESS}${CHILD_PYTHON}\nimport ${STAR_MODULES.join(", ")}\n`;
    const options = [pathToFileURL(module).href, folder, addonFile()!, computingFilter()!.toString("hex")];
    return new Zygote({
      command: process.execPath,
      args: [...flags, "--input-type=module", "-e", CHILD, "--", ...options, String(STARVED_TIMES), script],
    });
  }

  protected async prepare(): Promise<Readiness> {
    if (process.platform !== "linux") return unusable(`needs Linux, this is ${process.platform}`);
    if (computingFilter() === undefined) return unusable(`no system call filter for ${process.arch}`);
    if (pyodideModule() === undefined) return unusable("the optional package pyodide is not installed");
    if (addonFile() === undefined) return unusable("its addon is not built (npx hone build)");
    return { usable: true, what: "pyodide" };
  }
}

const permission = (): string =>
  process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";

function pyodideModule(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("pyodide/pyodide.mjs");
  } catch {
    return undefined;
  }
}

/** The addon that forks (csrc/sandbox). It is installed beside the core's addon and contains nothing of the core. */
const addonFile = (): string | undefined =>
  ["build/Release", "build/Debug", `prebuilds/${process.platform}-${process.arch}`]
    .map((folder) => join(packageRoot(), folder, "sandbox", "hone_sandbox.node"))
    .find((file) => existsSync(file));
