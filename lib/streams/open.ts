import { HoneError } from "../errors.ts";
import { checkName } from "./checks.ts";
import { DriverStore } from "./driver-store.ts";
import { MemoryDriver } from "./memory.ts";
import type { StreamStore } from "./store.ts";
import { StreamError } from "./stream-error.ts";

export interface OpenOptions {
  /** Name of the run; a store may hold several. */
  readonly run: string;
  /** The run has been here before: a store that does not know it is refused. False by default. */
  readonly mustExist?: boolean;
}

/**
 * Streams of a run, made where they are not there yet.
 * @param url "memory:", of this process and this object alone.
 * Rejects with HONE_ERR_USAGE for another address, StreamError "lost" where `mustExist` does not hold.
 */
export async function openStore(url: string, { run, mustExist = false }: OpenOptions): Promise<StreamStore> {
  checkName("run", run);
  if (url !== "memory:")
    throw new HoneError("HONE_ERR_USAGE", `${url} is no address of a stream store`, { hint: "memory:" });
  if (mustExist) throw new StreamError({ why: "lost", about: run, found: "a store in memory is always new" });
  return new DriverStore(new MemoryDriver());
}
