import type { JournaledCompletion } from "../../lib/orchestration/records/verdict-journal.ts";
import { readVerdictJournal } from "../../lib/orchestration/records/verdict-journal.ts";
import type { Verdict } from "../../lib/records.ts";

interface Kept extends Omit<JournaledCompletion, "kind"> {
  readonly verdicts: { readonly version: number; readonly verdict: Verdict }[];
}

/** Reads every completion of a journal with its verdicts into memory. */
export async function wholeJournal(path: string): Promise<Kept[]> {
  const kept = new Map<string, Kept>();
  for await (const { kind, key, ...entry } of readVerdictJournal(path)) {
    if (kind === "completion")
      kept.set(key, { key, ...(entry as Omit<Kept, "key" | "verdicts">), verdicts: [] });
    else kept.get(key)!.verdicts.push(entry as Kept["verdicts"][number]);
  }
  return [...kept.values()];
}
