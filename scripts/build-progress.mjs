// Shows the progress of a build on the terminal itself, because npm hides the output of install scripts.
import { spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";

/**
 * Turns "[12/140] Building ..." of ninja into "12 of 140", and "[  8%] Building ..." of make into "8 %"; returns
 * undefined for other lines.
 */
export function buildStep(line) {
  const found = /^\[ *(\d+)(?:\/(\d+)|(%))\]/.exec(line);
  if (found === null) return undefined;
  return found[2] === undefined ? `${found[1]} %` : `${found[1]} of ${found[2]}`;
}

/**
 * Prints the latest step, at most once in `everyMs`, with the time since the build began: "hone: building the
 * native core, 12 of 140 (0:07)".
 */
export function stepTeller(
  say,
  { what = "building the native core", everyMs = 3000, now = () => performance.now() } = {},
) {
  const begun = now();
  let told = begun;
  return (text) => {
    const step = text
      .split("\n")
      .map(buildStep)
      .findLast((found) => found !== undefined);
    if (step === undefined || now() - told < everyMs) return;
    told = now();
    const seconds = Math.round((told - begun) / 1000);
    say(`hone: ${what}, ${step} (${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")})`);
  };
}

/**
 * Opens the terminal of the user who started npm, where npm shows nothing of its scripts; undefined if there is none.
 */
function hiddenTerminal({ CI, npm_lifecycle_event: event, npm_config_foreground_scripts: foreground }) {
  if (process.stdout.isTTY || event === undefined || foreground === "true" || (CI ?? "") !== "")
    return undefined;
  try {
    return openSync("/dev/tty", "w");
  } catch {
    return undefined;
  }
}

/** Runs a command whose output goes where this process's output goes; returns its exit status. */
export async function runTelling(command, args, env) {
  if (process.stdout.isTTY) return ended(spawn(command, args, { stdio: "inherit", env }));
  const terminal = hiddenTerminal(process.env);
  const tell = terminal === undefined ? () => {} : stepTeller((line) => writeSync(terminal, `${line}\n`));
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], env });
  child.stdout.on("data", (data) => {
    process.stdout.write(data);
    tell(String(data));
  });
  const status = await ended(child);
  if (terminal !== undefined) closeSync(terminal);
  return status;
}

function ended(child) {
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("close", (code) => resolve(code ?? 1));
  });
}
