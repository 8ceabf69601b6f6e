import { setFlagsFromString } from "node:v8";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

/**
 * The report uses ten megabytes at a time, and V8 would let the heap grow to five times that: its young generation
 * doubles to 2 x 16 MiB, and promoted objects wait for a full collection.
 */
const SMALL_HEAP = ["--semi-space-growth-factor=1", "--heap-growing-percent=30"];

async function report(dir: string, flags: Common): Promise<number> {
  for (const flag of SMALL_HEAP) setFlagsFromString(flag);
  const { writeReport } = await import("../../live/index.ts");
  const path = await writeReport(dir);
  print(flags, { path }, path);
  return EXIT.done;
}

export const reportVerb: Verb = (hone, ends) => {
  hone
    .command("report <folder>")
    .description("write report.html of a run, finished or not")
    .option("--json", "print JSON")
    .action(ends(report));
};
