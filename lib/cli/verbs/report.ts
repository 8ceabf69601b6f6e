import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

async function report(dir: string, flags: Common): Promise<number> {
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
