import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { LiveServer } from "../live/index.ts";
import { RUN_FILES } from "../metrics/index.ts";

export interface WatchFlags {
  readonly port?: string;
  readonly host?: string;
  readonly json?: boolean;
}

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/**
 * Serves the page of run folders and prints its address; returns when the process is interrupted. Throws HONE_ERR_USAGE
 * for a folder without a run or a bad port, HONE_ERR_IO.
 */
export async function watchFolders(folders: readonly string[], flags: WatchFlags): Promise<void> {
  const dirs = folders.flatMap(runFolders);
  await using live = await LiveServer.open(dirs, { host: flags.host, port: portOf(flags.port) });
  if (flags.host !== undefined && !LOCAL.test(flags.host))
    process.stderr.write(`${remoteWarning(flags.host)}\n`);
  const { url } = live;
  process.stdout.write(flags.json ? `${JSON.stringify({ url, runs: dirs })}\n` : `${url}\n`);
  await interrupted();
}

/** The folder itself, or the runs that lie in it. Throws HONE_ERR_USAGE if there is none. */
export function runFolders(folder: string): string[] {
  const isRun = (dir: string) => existsSync(join(dir, RUN_FILES.manifest));
  if (isRun(folder)) return [folder];
  const inside = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const runs = inside.filter(isRun).sort();
  if (runs.length > 0) return runs;
  throw new HoneError("HONE_ERR_USAGE", `${folder}: no run lies here (no ${RUN_FILES.manifest})`, {
    hint: "Name the --dir of a run, or a folder that holds some.",
  });
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  throw new HoneError("HONE_ERR_USAGE", `--port ${text}: not a port, which is a number from 0 to 65535`);
}

const remoteWarning = (host: string): string =>
  `warning: the page is served at ${host}, without encryption: whoever sees its address on the way may read the run and stop it. Safer: leave --host out, and on your machine: ssh -L <port>:127.0.0.1:<port> <this machine>`;

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
