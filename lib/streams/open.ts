import { HoneError } from "../errors.ts";
import { checkName } from "./checks.ts";
import type { Driver } from "./driver.ts";
import { DriverStore } from "./driver-store.ts";
import { MemoryDriver } from "./memory.ts";
import type { StreamStore } from "./store.ts";
import { StreamError } from "./stream-error.ts";

const KEPT_OVER_PROCESSES = "synchronous=off";

export interface OpenOptions {
  /** Name of the run; a store may hold several. */
  readonly run: string;
  /** The run has been here before: a store that does not know it is refused. False by default. */
  readonly mustExist?: boolean;
}

/**
 * Streams of a run, made where they are not there yet.
 * @param url "memory:", of this process and this object alone; "sqlite:<file>", with "?synchronous=off" kept
 * over the death of every process and not over a loss of power; "redis://host:port/db", "rediss://" or
 * "redis+unix:///path", see readAddress.
 * Rejects with HONE_ERR_USAGE for another address, and where the package that it needs is not installed; StreamError
 * "lost" where `mustExist` does not hold; HONE_ERR_IO where it cannot be reached.
 */
export async function openStore(url: string, { run, mustExist = false }: OpenOptions): Promise<StreamStore> {
  checkName("run", run);
  return new DriverStore(await driverOf(url, run, mustExist));
}

async function driverOf(url: string, run: string, mustExist: boolean): Promise<Driver> {
  if (/^redis(?:s|\+unix)?:/.test(url)) {
    const { RedisDriver } = await import("./redis/driver.ts");
    return RedisDriver.open(url, run, mustExist);
  }
  const [, file, option] = /^sqlite:([^:?].*?)(?:\?([^/?]*))?$/.exec(url) ?? [];
  if (file !== undefined) {
    if (option !== undefined && option !== KEPT_OVER_PROCESSES) throw unknownOption(url, option);
    const { SqliteDriver } = await import("./sqlite/driver.ts");
    return SqliteDriver.open(file, run, mustExist, option === undefined ? "FULL" : "OFF");
  }
  if (url !== "memory:")
    throw new HoneError("HONE_ERR_USAGE", `${url} is no address of a stream store`, {
      hint: "memory:, sqlite:<file> or redis://host:port",
    });
  if (mustExist) throw new StreamError({ why: "lost", about: run, found: "a store in memory is always new" });
  return new MemoryDriver();
}

const unknownOption = (url: string, option: string): HoneError =>
  new HoneError("HONE_ERR_USAGE", `${url}: "${option}" is no option of a store in a file`, {
    hint: `The one there is: ?${KEPT_OVER_PROCESSES}. A file's name may have no question mark.`,
  });
