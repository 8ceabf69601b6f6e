import { columnsOf } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

async function runs(dir: string, flags: Common): Promise<number> {
  const { listRuns } = await import("../../runs/index.ts");
  const { runsText } = await import("../runs-tables.ts");
  const list = await listRuns(dir);
  print(flags, list, runsText(list, columnsOf(process.stdout)));
  return EXIT.done;
}

export const runsVerb: Verb = (hone, ends) => {
  hone
    .command("runs [folder]")
    .description("list the runs of a folder: state, results, how their recipes differ")
    .option("--json", "print JSON, with every recipe")
    .action(ends((folder: string | undefined, flags: Common) => runs(folder ?? "runs", flags)));
};
