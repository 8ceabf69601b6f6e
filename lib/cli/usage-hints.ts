import type { Command, CommanderError } from "commander";

/** Commands that users of other trainers type, and their equivalents in Hone. */
const MEANT: Readonly<Record<string, string>> = {
  chat: "hone generate --model <model> --prompt <text>",
  dashboard: "hone watch <run>",
  evaluate: "hone eval --model <model>",
  fit: "hone run <recipe>",
  list: "hone runs",
  logs: "hone status <run>",
  ls: "hone runs",
  merge: "hone export --run <run> --out <folder> --merge",
  new: "hone init",
  resume: "hone run <recipe> --dir <run> --resume",
  show: "hone status <run>, or hone watch <run>",
  stop: "Ctrl-C in the run's terminal, or its page (hone watch <run>)",
  test: "hone eval --model <model>",
  train: "hone run <recipe>",
  ui: "hone watch <run>",
  version: "hone --version",
  view: "hone watch <run>",
};

/** Makes every command of `hone` print its usage after an error: "usage: hone eval --model <model> [options]". */
export function showUsageAfterErrors(hone: Command): void {
  for (const command of hone.commands) {
    const needed = command.options
      .filter(({ mandatory }) => mandatory)
      .map(({ flags }) => flags.replace(/^-\w, /, ""));
    const words = [fullName(command), ...needed, command.usage()];
    command.showHelpAfterError(`usage: ${words.join(" ")}\nall options: ${fullName(command)} --help`);
    showUsageAfterErrors(command);
  }
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

/** A line that suggests the intended command; undefined if none is similar. @param args after `hone` */
export function usageHint(error: CommanderError, args: readonly string[], hone: Command): string | undefined {
  const [verb = "", ...rest] = args;
  if (error.code === "commander.unknownCommand") return MEANT[verb] && `${verb} is here: ${MEANT[verb]}`;
  if (error.code !== "commander.missingMandatoryOptionValue") return undefined;
  const needed =
    hone.commands.find((one) => one.name() === verb)?.options.filter(({ mandatory }) => mandatory) ?? [];
  const bare = rest.filter((word) => !word.startsWith("-"));
  return needed.length > 0 && rest.length === 1 && bare.length === 1
    ? `did you mean: hone ${verb} ${needed.map((one, i) => (i === 0 ? `${one.long} ${bare[0]}` : one.flags)).join(" ")}`
    : undefined;
}
