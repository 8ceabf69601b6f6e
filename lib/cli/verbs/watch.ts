import { Option } from "commander";
import { EXIT, endWithParent } from "../exit.ts";
import { TRUST } from "../folder-trust.ts";
import type { WatchFlags } from "../watch.ts";
import type { Verb } from "./verb.ts";

async function watch(folders: readonly string[], flags: WatchFlags): Promise<number> {
  const { watchFolders } = await import("../watch.ts");
  endWithParent();
  await watchFolders(folders, flags);
  return EXIT.done;
}

export const watchVerb: Verb = (hone, ends) => {
  hone
    .command("watch <folder...>")
    .description("serve a page of runs, finished or not; a folder of runs means all of them")
    .option("--port <number>", "port of the page (default: a free port)")
    .option("--host <name>", "address to listen at (default: 127.0.0.1, this machine alone)")
    .option(...TRUST)
    .addOption(new Option("--coming").hideHelp())
    .addOption(new Option("--allow <modules>").hideHelp())
    .option("--json", "print the page's address as JSON")
    .action(ends(watch));
};
