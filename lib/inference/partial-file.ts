import { createHash, type Hash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { copyFile, type FileHandle, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { HoneError } from "../errors.ts";
import type { HubDigest } from "./hub-client.ts";

/** A download by another process counts as abandoned after this long without a write. */
const SILENCE_MS = 60_000;
const SUFFIX = ".partial";
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
let opened = 0;

/**
 * The downloaded part of a file, beside the target path. It belongs to one process, whose id is in its name. Another
 * process renames a part whose owner is dead, and copies one whose owner is silent but may continue: no two processes
 * ever write to one file.
 */
export class PartialFile {
  readonly #target: string;
  readonly #path: string;
  readonly #size: number;
  readonly #digest: HubDigest;
  #handle: FileHandle;
  #hash: Hash;
  #position = 0;

  /**
   * Takes over the part of an earlier attempt, or begins an empty one.
   * @param size bytes of the whole file
   * Throws HONE_ERR_IO.
   */
  static async open(target: string, size: number, digest: HubDigest): Promise<PartialFile> {
    opened += 1;
    const path = `${target}.${HOST}-${process.pid}-${opened}${SUFFIX}`;
    for (const left of await abandoned(target)) if (await takenOver(target, left, path)) break;
    const handle = await open(path, "a+").catch((cause: Error) => {
      throw diskError(path, cause);
    });
    const partial = new PartialFile({ target, path, size, digest }, handle);
    try {
      await partial.#readPrefix();
      return partial;
    } catch (cause) {
      await partial.close();
      throw diskError(path, cause as Error);
    }
  }

  private constructor(
    { target, path, size, digest }: { target: string; path: string; size: number; digest: HubDigest },
    handle: FileHandle,
  ) {
    this.#target = target;
    this.#path = path;
    this.#size = size;
    this.#digest = digest;
    this.#handle = handle;
    this.#hash = newHash(digest, size);
  }

  /** Number of bytes received. */
  get position(): number {
    return this.#position;
  }

  get complete(): boolean {
    return this.#position === this.#size;
  }

  /** True if another process that began at the same moment has precedence; the caller then closes this part and waits. */
  async isSecond(): Promise<boolean> {
    for (const path of await partsOf(this.#target)) {
      const begun = await stat(path).then(
        ({ size }) => size > 0,
        () => false,
      );
      if (path !== this.#path && (begun || path < this.#path) && (await isAlive(this.#target, path)))
        return true;
    }
    return false;
  }

  /** Throws HONE_ERR_IO (disk full), HONE_ERR_FORMAT for more bytes than the file has. */
  async append(bytes: Uint8Array): Promise<void> {
    if (this.#position + bytes.length > this.#size)
      throw new HoneError(
        "HONE_ERR_FORMAT",
        `${this.#target}: the server sent more than the ${this.#size} bytes that it announced`,
      );
    try {
      await this.#handle.appendFile(bytes);
    } catch (cause) {
      throw diskError(this.#path, cause as Error);
    }
    this.#hash.update(bytes);
    this.#position += bytes.length;
  }

  /** Discards all bytes. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0);
    this.#position = 0;
    this.#hash = newHash(this.#digest, this.#size);
  }

  /**
   * Makes the complete file `target`, durably; or, if the checksum is wrong, discards all bytes and returns
   * false.
   */
  async commit(): Promise<boolean> {
    const hex = this.#hash.digest("hex");
    if (hex !== this.#digest.hex) {
      await this.restart();
      return false;
    }
    try {
      await this.#handle.sync();
      await rename(this.#path, this.#target);
    } catch (cause) {
      // a process that considered this part abandoned may have finished the file and removed it
      const isOver = (cause as NodeJS.ErrnoException).code === "ENOENT" && existsSync(this.#target);
      if (!isOver) throw diskError(this.#target, cause as Error);
    }
    for (const left of await abandoned(this.#target)) await rm(left, { force: true }).catch(() => {}); // the process exists but may belong to another user
    return true;
  }

  /** Keeps the downloaded bytes for the next attempt. */
  async close(): Promise<void> {
    await this.#handle.close();
    if (this.#position === 0) await rm(this.#path, { force: true });
    else await renamed(this.#path, `${this.#target}${SUFFIX}`);
  }

  async #readPrefix(): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size > this.#size) return this.restart();
    for await (const chunk of createReadStream(this.#path)) this.#hash.update(chunk as Buffer);
    this.#position = size;
  }
}

/** True if another process, or another call in this one, is downloading the file now. */
export async function isBeingDownloaded(target: string): Promise<boolean> {
  for (const path of await partsOf(target)) if (await isAlive(target, path)) return true;
  return false;
}

async function partsOf(target: string): Promise<string[]> {
  const folder = dirname(target);
  const names = await readdir(folder).catch(() => []);
  const own = names.filter((name) => name.startsWith(`${basename(target)}.`) && name.endsWith(SUFFIX));
  return own.map((name) => join(folder, name));
}

/** Partial files without a writer, longest first. */
async function abandoned(target: string): Promise<string[]> {
  const found: { path: string; size: number }[] = [];
  for (const path of await partsOf(target)) {
    const size = await stat(path).then(
      ({ size }) => size,
      () => -1,
    );
    if (size >= 0 && !(await isAlive(target, path))) found.push({ path, size });
  }
  return found.sort((a, b) => b.size - a.size).map(({ path }) => path);
}

/** True if its owner wrote to it recently, as far as can be determined. */
async function isAlive(target: string, path: string): Promise<boolean> {
  if (!mayGoOn(target, path)) return false;
  const age = await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  return age <= SILENCE_MS;
}

/** True if the process that owns the part may write to it again, however long it has been idle. */
function mayGoOn(target: string, path: string): boolean {
  const owner = /^\.([0-9a-f]{8})-(\d+)-\d+\.partial$/.exec(path.slice(target.length));
  if (owner === null) return false; // a closed part has no owner
  if (owner[1] !== HOST) return true; // on a shared disk the owner's state cannot be determined
  try {
    process.kill(Number(owner[2]), 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Takes over the part `left` as `path`, and returns whether it did. An incomplete copy is also a valid
 * beginning.
 */
async function takenOver(target: string, left: string, path: string): Promise<boolean> {
  if (!mayGoOn(target, left)) {
    const now = new Date();
    await utimes(left, now, now).catch(() => {}); // marks it as in use while this process reads it
    return renamed(left, path);
  }
  return copyFile(left, path).then(
    () => true,
    () => false,
  );
}

async function renamed(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    () => false,
  );
}

/** Starts the hash of a file of `size` bytes, by the algorithm of its checksum on the Hub. */
export function newHash({ algorithm }: Pick<HubDigest, "algorithm">, size: number): Hash {
  return algorithm === "sha256" ? createHash("sha256") : createHash("sha1").update(`blob ${size}\0`);
}

export function diskError(path: string, cause: Error): HoneError {
  if (HoneError.is(cause)) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  const full = code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
  return new HoneError("HONE_ERR_IO", `${path}: ${cause.message}`, {
    cause,
    ...(full && { hint: "The disk of the cache is full: free space, or set HF_HOME to another disk." }),
  });
}
