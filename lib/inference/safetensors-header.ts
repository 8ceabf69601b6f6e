import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { HoneError } from "../errors.ts";

export interface StoredTensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** The beginning of a file on this machine or elsewhere. */
export interface FileHead {
  /** A path or URL, for messages. */
  readonly where: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Returns the first `bytes` bytes, at most `size`. */
  read(bytes: number): Promise<Buffer>;
}

const MAX_HEADER_BYTES = 100 << 20;
/** Bytes of the first read; enough for the header of most files. */
const FIRST_BYTES = 1 << 16;

/**
 * Tensors of a safetensors file by name; reads only the header. Throws HONE_ERR_FORMAT naming a file whose header is
 * damaged, and the errors of `read`.
 * Source: github.com/huggingface/safetensors README, "Format".
 */
export async function readHeader({ where, size, read }: FileHead): Promise<Record<string, StoredTensor>> {
  let head = size < 8 ? Buffer.alloc(0) : await read(Math.min(size, FIRST_BYTES));
  const bytes = head.length < 8 ? 0 : Number(head.readBigUInt64LE());
  if (bytes < 2 || bytes > MAX_HEADER_BYTES || bytes + 8 > size) {
    const message = `${where}: the header would have ${bytes} bytes; not a safetensors file`;
    throw new HoneError("HONE_ERR_FORMAT", message);
  }
  if (head.length < bytes + 8) head = await read(bytes + 8);
  const { __metadata__: _, ...tensors } = parseJson(head.toString("utf8", 8, bytes + 8), where);
  return tensors as Record<string, StoredTensor>;
}

/** Runs `use` on the head of a file of this machine. Throws HONE_ERR_IO naming it, and what `use` throws. */
export async function withLocalHead<T>(path: string, use: (head: FileHead) => Promise<T>): Promise<T> {
  const failed = (cause: Error): never => {
    throw new HoneError("HONE_ERR_IO", `${path}: ${cause.message}`, { cause });
  };
  // O_NONBLOCK: does not wait for a pipe's writer
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(failed);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new HoneError("HONE_ERR_IO", `${path}: not a regular file`);
    const { size } = stats;
    const read = async (bytes: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0).catch(failed);
      return buffer.subarray(0, bytesRead);
    };
    return await use({ where: path, size, read });
  } finally {
    await file.close();
  }
}

/** Parses an object in a model's file. Throws HONE_ERR_FORMAT naming the file. */
export function parseJson(text: string, where: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new HoneError("HONE_ERR_FORMAT", `${where}: ${(cause as Error).message}`, { cause });
  }
}
