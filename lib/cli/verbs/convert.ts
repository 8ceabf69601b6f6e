import { HoneError } from "../../errors.ts";
import type { WeightDtype } from "../../native/index.ts";
import { fromUnits, inUnits } from "../../plan/units.ts";
import { EXIT } from "../exit.ts";
import { withProgress } from "../progress.ts";
import { type Common, print, type Verb } from "./verb.ts";

export interface WriteFlags extends Common {
  readonly dtype?: string;
  readonly shardSize?: string;
  readonly force?: boolean;
}

const DTYPES: readonly string[] = ["f32", "bf16", "f16"] satisfies readonly WeightDtype[];
export const DTYPE_OPTION = ["--dtype <d>", "f32, bf16 or f16 (default: each tensor's own)"] as const;

/** Options that convert and export share. */
export function writeOptions({ dtype, shardSize, force = false }: WriteFlags, target: string) {
  if (dtype !== undefined && !DTYPES.includes(dtype))
    throw new HoneError("HONE_ERR_USAGE", `--dtype is ${dtype}; it must be one of ${DTYPES.join(", ")}`);
  return {
    target,
    force,
    ...(dtype !== undefined && { dtype: dtype as WeightDtype }),
    ...(shardSize !== undefined && { shardBytes: bytesOf(shardSize) }),
  };
}

function bytesOf(text: string): number {
  const bytes = Math.floor(fromUnits(text) ?? 0);
  if (bytes > 0 && Number.isSafeInteger(bytes)) return bytes;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `--shard-size is ${JSON.stringify(text)}, not a size such as 5GB or 500MiB`,
  );
}

async function convert(source: string, target: string, flags: WriteFlags): Promise<number> {
  const options = writeOptions(flags, target);
  const { modelFolder } = await import("../model-name.ts");
  const { convertModel } = await import("../../inference/index.ts");
  const folder = await modelFolder(source);
  const report = await withProgress(({ show, signal }) =>
    convertModel(folder, { ...options, signal, onProgress: (done, total) => show(target, done, total) }),
  );
  const { tensors, converted, files, bytes, copied, leftOut } = report;
  const left = leftOut.length === 0 ? "" : `; left out: ${leftOut.join(", ")}`;
  print(
    flags,
    report,
    `${tensors} tensors, ${converted} converted, ${inUnits(bytes)} in ${files} file(s); copied: ${copied.join(", ")}${left}`,
  );
  return EXIT.done;
}

export const convertVerb: Verb = (hone, ends) => {
  hone
    .command("convert <model> <target>")
    .description("write a model folder again, in other files or as another dtype")
    .option(...DTYPE_OPTION)
    .option("--shard-size <size>", "largest weight file, such as 5GB (default: the files of the source)")
    .option("--force", "replace an existing model folder")
    .option("--json", "print JSON")
    .action(ends(convert));
};
