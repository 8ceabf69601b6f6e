import { createHash, type Hash } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../../errors.ts";

interface StoredTensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

interface ManifestFile {
  readonly name: string;
  readonly sha256: string;
}

/**
 * Hash of a checkpoint's weights, independent of how many processes wrote it: that of the single file which one
 * process would write, even if the weights are in several files. Excludes moments and the extra text.
 */
export function weightsHash(checkpoint: string): string {
  const path = join(checkpoint, "manifest.json");
  if (!existsSync(path))
    throw new HoneError("HONE_ERR_CHECKPOINT", `${path} is missing; is ${checkpoint} a checkpoint?`);
  const { body } = JSON.parse(readFileSync(path, "utf8")) as {
    readonly body: { readonly files: readonly ManifestFile[] };
  };
  const weights = body.files.filter(({ name }) => /^(?:adapter_)?model.*\.safetensors$/.test(name));
  if (weights.length === 1) return weights[0]!.sha256;
  const names = weights.map(({ name }) => name).sort();
  return hashOfOne(names.map((name) => join(checkpoint, name)));
}

/** Hash of a file that contains all tensors of `paths` in order, in the format of csrc/model/safetensors.h. */
function hashOfOne(paths: readonly string[]): string {
  const parts = paths.map(readPart);
  const all: Record<string, unknown> = {};
  let end = 0;
  for (const { header } of parts) {
    const begin = end;
    for (const [name, value] of Object.entries(header)) {
      all[name] = name === "__metadata__" ? value : moved(value as StoredTensor, begin);
      if (name !== "__metadata__") end = Math.max(end, begin + (value as StoredTensor).data_offsets[1]);
    }
  }
  const text = JSON.stringify(all);
  const header = Buffer.from(text.padEnd(text.length + ((8 - (Buffer.byteLength(text) % 8)) % 8)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const hash = createHash("sha256").update(size).update(header);
  parts.forEach(({ dataAt }, i) => {
    addRest(hash, paths[i]!, dataAt);
  });
  return hash.digest("hex");
}

const moved = ({ dtype, shape, data_offsets: [begin, end] }: StoredTensor, by: number): StoredTensor => ({
  dtype,
  shape,
  data_offsets: [begin + by, end + by],
});

function readPart(path: string): { header: Record<string, unknown>; dataAt: number } {
  const file = openSync(path, "r");
  try {
    const size = Buffer.alloc(8);
    readSync(file, size, 0, 8, 0);
    const text = Buffer.alloc(Number(size.readBigUInt64LE()));
    readSync(file, text, 0, text.length, 8);
    return { header: JSON.parse(text.toString()) as Record<string, unknown>, dataAt: 8 + text.length };
  } finally {
    closeSync(file);
  }
}

function addRest(hash: Hash, path: string, from: number): void {
  const file = openSync(path, "r");
  const piece = Buffer.alloc(1 << 20);
  try {
    for (let at = from; ; ) {
      const read = readSync(file, piece, 0, piece.length, at);
      if (read === 0) return;
      hash.update(piece.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(file);
  }
}
