import type { Reader, ReadSide, ReadTrace, Side } from "./trace.ts";

/** Reads a side's traces with limited concurrency. @param each called after every trace */
export async function readSide(
  { name, traces }: Side,
  reader: Reader,
  { width = 1, each = () => {} }: { readonly width?: number; readonly each?: () => void } = {},
): Promise<ReadSide> {
  const results = await atOnce(traces, width, async (trace) => {
    const result = await reader.read(trace);
    each();
    return result;
  });
  const outages: Record<string, number> = {};
  const read: ReadTrace[] = [];
  let unsplit = 0;
  for (const result of results) {
    if (result === "unsplit") unsplit += 1;
    else if ("outage" in result) outages[result.outage] = (outages[result.outage] ?? 0) + 1;
    else read.push(result);
  }
  return { name, read, outages, unsplit };
}

/** Maps the items with limited concurrency; keeps their order. */
export async function atOnce<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
