import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { type LiveOptions, LiveServer } from "../live/index.ts";
import { RUN_FILES } from "../metrics/index.ts";
import { type Demand, Trust } from "../trust.ts";
import { trustOf } from "./folder-trust.ts";

export interface WatchFlags {
  readonly port?: string;
  readonly host?: string;
  readonly json?: boolean;
  readonly trust?: boolean;
  /**
   * JSON list of the modules that the starting run's recipe names; the page loads no other module that the folder's
   * record names.
   */
  readonly allow?: string;
  /** True if a run is about to begin in the folder, so that files in it may be those of an earlier run. */
  readonly coming?: boolean;
}

async function trustOfWatch({ allow, ...flags }: WatchFlags): Promise<Trust> {
  return allow === undefined ? trustOf(flags) : Trust.alike(JSON.parse(allow) as Demand[]);
}

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/**
 * Serves the page of run folders and prints its address; returns when the process is interrupted. Throws HONE_ERR_USAGE
 * for a folder without a run or a bad port, HONE_ERR_IO.
 */
export async function watchFolders(folders: readonly string[], flags: WatchFlags): Promise<void> {
  const dirs = flags.coming ? folders : folders.flatMap(runFolders);
  const options = { host: flags.host, port: portOf(flags.port), trust: await trustOfWatch(flags) };
  await using live = flags.coming ? await openAgain(dirs[0]!, options) : await LiveServer.open(dirs, options);
  if (flags.host !== undefined && !LOCAL.test(flags.host))
    process.stderr.write(`${remoteWarning(flags.host)}\n`);
  const { url } = live;
  process.stdout.write(flags.json ? `${JSON.stringify({ url, runs: dirs })}\n` : `${url}\n`);
  // When the run's process ends, its channel to this process closes, which raises SIGHUP here (endWithParent).
  const hungUp = signalled(["SIGHUP"]).then(() => (flags.coming ? unread(live, dirs[0]!) : undefined));
  await Promise.race([signalled(["SIGINT", "SIGTERM"]), hungUp]);
}

/** The page of an ended run is served to browsers that have it open for this long. */
const MOST_UNATTENDED_MS = 600_000;
const LOOK_MS = 250;

/** Resolves once no browser has the page open, after ten minutes, or when a resumed run serves the folder's page. */
async function unread(live: LiveServer, dir: string): Promise<void> {
  const until = performance.now() + MOST_UNATTENDED_MS;
  const isOwn = () => readAddress(join(dir, ADDRESS))?.port === live.port;
  while (live.watch.stream.listeners > 0 && performance.now() < until && isOwn())
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

/** How long to wait until the page of the run's last session releases its port. Milliseconds. */
const MOST_TAKEN_MS = 1_000;

/**
 * Serves a run at the port and with the token that its folder's last page had, so that a page which is still open
 * finds it again when the run is resumed; uses another port if the old one is taken.
 */
export async function openAgain(dir: string, { host, port, trust }: LiveOptions): Promise<LiveServer> {
  const before = readAddress(join(dir, ADDRESS));
  const token = before?.token;
  const wanted = { host, token, trust, port: port ?? before?.port };
  rmSync(join(dir, ADDRESS), { force: true }); // the last session's page exits when this file disappears
  const live = await openWithin(before === undefined ? 0 : MOST_TAKEN_MS, dir, wanted).catch(
    (error: unknown) => {
      if (port !== undefined || before === undefined) throw error;
      return LiveServer.open([dir], { host, token, trust });
    },
  );
  mkdirSync(dir, { recursive: true });
  writeAddress(join(dir, ADDRESS), live);
  return live;
}

async function openWithin(ms: number, dir: string, wanted: LiveOptions): Promise<LiveServer> {
  const until = performance.now() + ms;
  for (;;) {
    try {
      return await LiveServer.open([dir], wanted);
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

/** File with the address of a run's page; private to its owner, since it holds the token. */
const ADDRESS = "live.json";

/**
 * Reads the address of the folder's last page. Undefined also for a file that was copied or unpacked here:
 * its author would know the page's token.
 */
function readAddress(path: string): { readonly port: number; readonly token: string } | undefined {
  try {
    const { port, token, file } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    const isOwn = file === identityOf(lstatSync(path, { bigint: true }));
    const known =
      isOwn && Number.isInteger(port) && typeof token === "string" && /^[0-9a-f]{32}$/.test(token);
    return known ? { port: port as number, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Identity of a file; a copy of the file has a different one. */
const identityOf = ({ dev, ino }: BigIntStats): string => `${dev} ${ino}`;

function writeAddress(path: string, { port, token }: LiveServer): void {
  rmSync(path, { force: true });
  const fd = openSync(path, "wx", 0o600);
  const file = identityOf(fstatSync(fd, { bigint: true }));
  writeFileSync(fd, JSON.stringify({ port, token, file }));
  closeSync(fd);
}

/** The folder itself if it is a run, or else the runs in it. Throws HONE_ERR_USAGE if there is none. */
export function runFolders(folder: string): string[] {
  const isRun = (dir: string) => existsSync(join(dir, RUN_FILES.manifest));
  if (isRun(folder)) return [folder];
  const inside = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const runs = inside.filter(isRun).sort();
  if (runs.length > 0) return runs;
  throw new HoneError("HONE_ERR_USAGE", `${folder}: not a run folder (no ${RUN_FILES.manifest})`, {
    hint: "Give the folder of a run (its --dir), or a folder that contains runs.",
  });
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  throw new HoneError("HONE_ERR_USAGE", `--port ${text}: a port is a number from 0 to 65535`);
}

const remoteWarning = (host: string): string =>
  `warning: the page is served at ${host}, without encryption: anyone on the network path who sees its address can read the run and stop it. Safer: leave --host out, and on your machine: ssh -L <port>:127.0.0.1:<port> <this machine>`;

function signalled(signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
