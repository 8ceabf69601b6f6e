import { HoneError } from "../errors.ts";
import { checkName } from "./checks.ts";
import type { Driver } from "./driver.ts";
import { DriverStore } from "./driver-store.ts";
import { MemoryDriver } from "./memory.ts";
import { withoutPassword } from "./redis/address.ts";
import { unixPath } from "./socket/address.ts";
import type { StreamStore } from "./store.ts";
import { StreamError } from "./stream-error.ts";

export interface OpenOptions {
  /** Name of the run; a store may contain several. */
  readonly run: string;
  /** True: a store in which the run does not exist yet is refused. Default: false. */
  readonly mustExist?: boolean;
}

/**
 * Opens the streams of a run, creating them if needed.
 * @param url "memory:", private to this object; "unix:<path>", a socket at which another process of this machine
 * serves them; "redis://host:port/db", "rediss://" or "redis+unix:///path", see readAddress. Rejects with
 * HONE_ERR_USAGE for another address, or if the required package is not installed; StreamError "lost" if `mustExist`
 * is not satisfied; HONE_ERR_IO if it cannot be reached.
 */
export async function openStore(url: string, { run, mustExist = false }: OpenOptions): Promise<StreamStore> {
  checkName("run", run);
  return new DriverStore(await driverOf(url, run, mustExist));
}

/**
 * Creates a store for the run in this process's memory, which other processes of this machine open by the same
 * address "unix:<path>" until it is closed. Rejects with HONE_ERR_USAGE for another address or if a live process
 * already serves it, HONE_ERR_IO if the socket cannot be created.
 */
export async function serveStore(url: string, { run }: Pick<OpenOptions, "run">): Promise<StreamStore> {
  checkName("run", run);
  const path = unixPath(url);
  if (path === undefined) throw unknownAddress(url);
  const { ServedDriver } = await import("./socket/served.ts");
  return new DriverStore(await ServedDriver.open(path, run));
}

async function driverOf(url: string, run: string, mustExist: boolean): Promise<Driver> {
  if (/^redis(?:s|\+unix)?:/.test(url)) {
    const { RedisDriver } = await import("./redis/driver.ts");
    return RedisDriver.open(url, run, mustExist);
  }
  const path = unixPath(url);
  if (path !== undefined) {
    const { SocketDriver } = await import("./socket/driver.ts");
    return SocketDriver.open(path, run);
  }
  if (url !== "memory:") throw unknownAddress(url);
  if (mustExist) throw new StreamError({ why: "lost", about: run, found: "a store in memory is always new" });
  return new MemoryDriver();
}

function unknownAddress(url: string): HoneError {
  if (url.startsWith("sqlite:"))
    return new HoneError("HONE_ERR_USAGE", `${url}: stream stores in files are no longer supported`, {
      hint: "Leave --store and HONE_STORE out for processes of one machine, or give unix:<path>, where others of this machine join; several machines meet at redis://host:port.",
    });
  return new HoneError("HONE_ERR_USAGE", `${withoutPassword(url)} is not an address of a stream store`, {
    hint: "memory:, unix:<path> or redis://host:port",
  });
}
