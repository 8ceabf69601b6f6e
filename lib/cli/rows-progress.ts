import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { basename } from "node:path";
import type { RowsRead } from "../data/index.ts";
import { type ProgressOptions, progress } from "./progress.ts";

/** Milliseconds of reading before the progress is shown. */
const FIRST_MS = 2000;
/** Copy of the name in lib/data/rows-read.ts: importing that file would load it for commands that read no data. */
const CHANNEL = "hone:rows-read";

/** Runs `work`, and shows on stderr how far data sets are read while that takes longer than two seconds. */
export async function whileReadingRows<T>(work: () => Promise<T>, options: ProgressOptions = {}): Promise<T> {
  const { now = () => performance.now() } = options;
  let line = progress(options);
  let begunMs: number | undefined;
  const told = (message: unknown) => {
    const read = message as RowsRead;
    begunMs ??= now();
    const seconds = (now() - begunMs) / 1000;
    if (seconds * 1000 >= FIRST_MS) line.show(textOf(read, seconds), read.share === 1);
    if (read.share < 1) return;
    line.end();
    line = progress(options);
    begunMs = undefined;
  };
  subscribe(CHANNEL, told);
  try {
    return await work();
  } finally {
    line.end();
    unsubscribe(CHANNEL, told);
  }
}

function textOf({ file, rows, share }: RowsRead, seconds: number): string {
  const begun = `${basename(file)}: ${rows.toLocaleString("en-US")} rows read`;
  if (share === 0) return `${begun} in ${Math.round(seconds)} s`; // the size of a compressed file does not say how many rows remain
  if (share === 1) return `${begun}, 100 %, in ${Math.round(seconds)} s`;
  const left = Math.ceil((seconds * (1 - share)) / share);
  return `${begun}, ${Math.floor(100 * share)} %, about ${left} s left`;
}
