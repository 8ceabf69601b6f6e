import { type FileHandle, open } from "node:fs/promises";
import { weightFiles } from "./inspect.ts";
import { readHeader, type StoredTensor, withLocalHead } from "./safetensors-header.ts";

export interface WeightChange {
  /**
   * Number of compared weights; compared are tensors that both folders have with equal shapes and comparable dtypes.
   */
  readonly weights: number;
  readonly changed: number;
}

interface Place extends StoredTensor {
  readonly path: string;
  /** Offset of the tensor's first byte in its file. */
  readonly at: number;
}

const WORD_BYTES: Readonly<Record<string, 2 | 4>> = { F32: 4, BF16: 2, F16: 2 };
const CHUNK = 1 << 20;

/**
 * Counts the weights of a model folder that differ from those of its source folder, rounded to their stored dtype.
 * Streams both with a few MiB of memory. Throws HONE_ERR_IO or HONE_ERR_FORMAT naming the file.
 */
export async function changedWeights(before: string, after: string): Promise<WeightChange> {
  const from = await placesOf(before);
  let weights = 0;
  let changed = 0;
  for (const [name, to] of await placesOf(after)) {
    const was = from.get(name);
    if (was === undefined || String(was.shape) !== String(to.shape)) continue;
    const rounded = rounding(was.dtype, to.dtype);
    if (rounded === undefined) continue;
    weights += to.shape.reduce((product, n) => product * n, 1);
    changed += await countChanged(was, to, rounded);
  }
  return { weights, changed };
}

async function placesOf(folder: string): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  for (const path of weightFiles(folder)) {
    await withLocalHead(path, async (head) => {
      const tensors = await readHeader(head);
      const start = 8 + Number((await head.read(8)).readBigUInt64LE());
      for (const [name, tensor] of Object.entries(tensors))
        places.set(name, { ...tensor, path, at: start + tensor.data_offsets[0] });
    });
  }
  return places;
}

/**
 * Returns a function that converts a value's bits to another dtype; undefined if the conversion is not implemented
 * here.
 */
function rounding(from: string, to: string): ((bits: number) => number) | undefined {
  if (from === to && Object.hasOwn(WORD_BYTES, from)) return (bits) => bits;
  if (from === "BF16" && to === "F32") return (bits) => (bits << 16) >>> 0;
  // rounds to nearest, ties to even
  if (from === "F32" && to === "BF16") return (bits) => (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
  return undefined;
}

async function countChanged(was: Place, is: Place, rounded: (bits: number) => number): Promise<number> {
  const [before, after] = [await open(was.path), await open(is.path)];
  try {
    const total = is.shape.reduce((product, n) => product * n, 1);
    let changed = 0;
    for (let first = 0; first < total; first += CHUNK) {
      const n = Math.min(CHUNK, total - first);
      const [old, now] = [await words(before, was, first, n), await words(after, is, first, n)];
      for (let i = 0; i < n; i++) if (rounded(old[i]!) !== now[i]) changed += 1;
    }
    return changed;
  } finally {
    await Promise.all([before.close(), after.close()]);
  }
}

async function words(
  file: FileHandle,
  place: Place,
  first: number,
  n: number,
): Promise<Uint16Array | Uint32Array> {
  const bytes = WORD_BYTES[place.dtype]!;
  const out = bytes === 2 ? new Uint16Array(n) : new Uint32Array(n);
  await file.read(out, 0, n * bytes, place.at + first * bytes);
  return out;
}
