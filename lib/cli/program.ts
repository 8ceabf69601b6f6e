import { Command, CommanderError } from "commander";
import { packageVersion } from "../native/load.ts";
import { EXIT, exitCodeOf, explain, tolerateLostOutput } from "./exit.ts";
import { whileReadingRows } from "./rows-progress.ts";
import { showUsageAfterErrors, usageHint } from "./usage-hints.ts";
import type { Ends } from "./verbs/verb.ts";
import { VERBS } from "./verbs.ts";

/** The command with all its verbs; each sets the exit code of the process. */
export function program(): Command {
  const hone = new Command("hone")
    .description("Post-trains reasoning language models with reinforcement learning from verifiable rewards.")
    .version(packageVersion())
    .showHelpAfterError("`hone --help` lists the commands, `hone <command> --help` the options of one.")
    .exitOverride();
  const ends: Ends =
    (action) =>
    async (...args) => {
      process.exitCode = await action(...args);
    };
  for (const verb of VERBS) verb(hone, ends);
  showUsageAfterErrors(hone);
  hone.hook("preAction", (_, action) => {
    if (action.opts()["strictConfig"] === true) process.env["HONE_STRICT_CONFIG"] = "1";
  });
  return hone;
}

/** Parses the command line and runs its command; prints errors to stderr and sets the exit code. */
export async function runCommand(): Promise<void> {
  tolerateLostOutput();
  const hone = program();
  try {
    await whileReadingRows(() => hone.parseAsync());
  } catch (error) {
    if (error instanceof CommanderError) {
      const hint = usageHint(error, process.argv.slice(2), hone);
      if (hint !== undefined) process.stderr.write(`${hint}\n`);
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else {
      process.stderr.write(`${explain(error)}\n`);
      process.exitCode = exitCodeOf(error);
    }
  }
}
