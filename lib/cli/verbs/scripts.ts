import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageRoot } from "../../package-root.ts";
import { EXIT } from "../exit.ts";
import type { Verb } from "./verb.ts";

/** Runs a script of the package and passes on its output and exit status. */
function script(name: string): () => Promise<number> {
  return async () => {
    const result = spawnSync(
      process.execPath,
      [join(packageRoot(), "scripts", name), ...process.argv.slice(3)],
      { stdio: "inherit" },
    );
    return result.status ?? EXIT.environment;
  };
}

export const buildVerb: Verb = (hone, ends) => {
  hone
    .command("build")
    .description("build the native core here; it is preferred to the package's prebuilt one")
    .option("--cuda", "fail if nvcc is not found")
    .allowUnknownOption()
    .action(ends(script("build-native.mjs")));
};
