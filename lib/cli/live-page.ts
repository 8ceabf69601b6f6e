import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { Demand } from "../trust.ts";
import { honeCommand } from "./hone-command.ts";

export interface LivePageOptions {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  /** Modules that the run's own recipe names, which the page may load to explain a step. */
  readonly allowed?: readonly Demand[] | undefined;
  /** Command before `watch`. Default: this command. */
  readonly command?: readonly string[] | undefined;
}

/**
 * The page of a run that is about to begin, served by a separate process so that it takes no time from this one.
 * After disposal it ends once no browser has it open, ten minutes later at the latest.
 */
export interface LivePage extends Disposable {
  /** Address of the page; undefined if the page could not be served, which the page's process has reported. */
  readonly url: string | undefined;
}

/** Starts `hone watch` for a folder in which a run begins. */
export async function startLivePage(
  dir: string,
  { port, host, allowed = [], command = honeCommand() }: LivePageOptions,
): Promise<LivePage> {
  const [program, ...before] = command as [string, ...string[]];
  const where = [
    ...(port === undefined ? [] : ["--port", port]),
    ...(host === undefined ? [] : ["--host", host]),
    ...(allowed.length === 0 ? [] : ["--allow", JSON.stringify(allowed)]),
  ];
  const child = spawn(program, [...before, "watch", dir, "--coming", ...where], {
    stdio: ["ignore", "pipe", "pipe", "ipc"], // the page's process may outlive this one, whose stderr it must not keep open
    detached: true, // Ctrl-C then reaches only the run, which saves while the page is still served
  });
  child.stderr?.on("data", (text: Buffer) => process.stderr.write(text));
  child.unref();
  child.channel?.unref();
  const url = await firstLine(child);
  for (const stream of [child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref();
  return { url, [Symbol.dispose]: () => void (child.connected && child.disconnect()) };
}

function firstLine(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
    createInterface({ input: child.stdout! }).once("line", resolve);
    if (child.pid !== undefined) lowerPriority(child.pid);
  });
}

/** Lowers the priority of the page's process, so that the run has precedence on a busy machine. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // the process has ended already
  }
}
