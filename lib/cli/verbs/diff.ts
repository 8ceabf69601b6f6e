import { columnsOf } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

async function diff(a: string, b: string, flags: Common): Promise<number> {
  const { diffRuns } = await import("../../runs/index.ts");
  const { diffText } = await import("../runs-tables.ts");
  const difference = await diffRuns(a, b);
  print(flags, difference, diffText(difference, columnsOf(process.stdout)));
  return EXIT.done;
}

export const diffVerb: Verb = (hone, ends) => {
  hone
    .command("diff <a> <b>")
    .description("compare recipes and results of two runs, or of two folders of runs over seeds")
    .option("--json", "print JSON")
    .action(ends(diff));
};
