import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { HoneError } from "../errors.ts";
import { packageRoot } from "../package-root.ts";
import type { NativeBinding } from "./binding.ts";
import { INTERFACE_STAMP } from "./stamp.ts";

let cached: NativeBinding | undefined;

/**
 * The addon, loaded at the first call: types, recipes and `--help` never need it.
 * Throws HONE_ERR_NATIVE_LOAD with the next command to type.
 */
export function binding(): NativeBinding {
  if (cached !== undefined) return cached;
  const loaded = loadAddon();
  if (loaded.interfaceStamp !== INTERFACE_STAMP) {
    throw new HoneError(
      "HONE_ERR_NATIVE_LOAD",
      "the native core and the TypeScript beside it are of different builds",
      {
        hint: "Run `npx hone build`; in a checkout `npm run build:ts` too.",
        details: { core: loaded.interfaceStamp, typescript: INTERFACE_STAMP },
      },
    );
  }
  cached = loaded;
  return cached;
}

interface NodeGypBuild {
  (directory: string): NativeBinding;
  path(directory: string): string;
}

const finder = (): NodeGypBuild => createRequire(import.meta.url)("node-gyp-build") as NodeGypBuild;

/** The addon's file, relative to the package: in build/ if the core was built here, else in prebuilds/. */
export const addonFile = (): string => path.relative(packageRoot(), finder().path(packageRoot()));

function loadAddon(): NativeBinding {
  try {
    return finder()(packageRoot());
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
    const hint = loadHint(message);
    throw new HoneError("HONE_ERR_NATIVE_LOAD", `cannot load the native core: ${message}`, { cause, hint });
  }
}

/** Suggests a remedy for an error message of the loader. Exported for its test. */
export function loadHint(message: string): string {
  if (/No native build was found|Cannot find module/.test(message)) {
    return "The native core is not built (some package managers skip install scripts): run `npx hone build`.";
  }
  if (/GLIBC(XX)?_|CXXABI_/.test(message)) {
    return "It was built against a newer C or C++ library than this machine has: run `npx hone build` here.";
  }
  if (/invalid ELF|wrong ELF|wrong architecture|mach-o|not a valid Win32/i.test(message)) {
    return "node_modules was copied from another platform: reinstall it here, then `npx hone build`.";
  }
  if (/did not self-register/.test(message)) {
    return "The file is not this package's addon, or is half written: run `npx hone build`.";
  }
  return "Run `npx hone doctor` and `npx hone build`.";
}

/** Version of this package, from its package.json. */
export function packageVersion(): string {
  const text = readFileSync(path.join(packageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
