import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { fileWork } from "../../metrics/index.ts";
import { REWRITING } from "../../shared/files/plain-file.ts";

const KEY_BYTES = 16;
const FIRST_SLOTS = 1 << 12;
/** Number of slots per read while probing. */
const PROBE = 32;

/**
 * A set of hashes in a file instead of memory: open addressing with linear probing, at most half full. The
 * file is unlinked once it is open, so it disappears with the process that owns it, even after a crash.
 */
export class DiskSet implements Disposable {
  readonly #path: string;
  readonly #probe = Buffer.alloc(PROBE * KEY_BYTES);
  #fd: number;
  #slots = FIRST_SLOTS;
  #size = 0;

  /** @param path a path on the disk to use, at which no file exists. Throws HONE_ERR_IO naming it. */
  constructor(path: string) {
    this.#path = path;
    this.#fd = nameless(path);
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Adds a hash; returns false if the set already has it. @param hash 32 hex digits, evenly distributed, not all 0.
   * Throws HONE_ERR_IO.
   */
  add(hash: string): boolean {
    const key = Buffer.from(hash, "hex");
    return fileWork(this.#path, () => {
      const slot = this.#find(key);
      if (slot === undefined) return false;
      writeSync(this.#fd, key, 0, KEY_BYTES, slot * KEY_BYTES);
      this.#size += 1;
      if (2 * this.#size > this.#slots) this.#grow();
      return true;
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  /** Index of the free slot where the key belongs; undefined if the key is in the set. */
  #find(key: Buffer): number | undefined {
    for (let slot = key.readUInt32LE() % this.#slots; ; slot = 0) {
      for (; slot < this.#slots; slot += PROBE) {
        const count = Math.min(PROBE, this.#slots - slot);
        const bytes = readSync(this.#fd, this.#probe, 0, count * KEY_BYTES, slot * KEY_BYTES);
        this.#probe.fill(0, bytes); // slots past the end of the file are empty
        for (let i = 0; i < count; i++) {
          const taken = this.#probe.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES);
          if (taken.every((byte) => byte === 0)) return slot + i;
          if (taken.equals(key)) return undefined;
        }
      }
    }
  }

  #grow(): void {
    const old = this.#fd;
    const oldSlots = this.#slots;
    this.#fd = nameless(this.#path);
    this.#slots *= 2;
    const block = Buffer.alloc(FIRST_SLOTS * KEY_BYTES);
    for (let slot = 0; slot < oldSlots; slot += FIRST_SLOTS) {
      const bytes = readSync(old, block, 0, block.length, slot * KEY_BYTES);
      for (let at = 0; at < bytes; at += KEY_BYTES) {
        const key = block.subarray(at, at + KEY_BYTES);
        if (key.every((byte) => byte === 0)) continue;
        writeSync(this.#fd, key, 0, KEY_BYTES, this.#find(key)! * KEY_BYTES);
      }
    }
    closeSync(old);
  }
}

function nameless(path: string): number {
  return fileWork(path, () => {
    const fd = openSync(path, REWRITING);
    unlinkSync(path);
    return fd;
  });
}
