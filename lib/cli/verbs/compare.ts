import { Option } from "commander";
import { HoneError } from "../../errors.ts";
import { TABLE_FORMATS, type TableFormat } from "../../report/table-formats.ts";
import { columnsOf } from "../../report/terminal.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly format: TableFormat;
  readonly show: string;
}

async function compare(before: string, others: readonly string[], flags: Flags): Promise<number> {
  const { compareEvaluations, isEvaluation } = await import("../../suites/index.ts");
  const { comparisonText } = await import("../evaluation-tables.ts");
  for (const dir of [before, ...others]) {
    if (isEvaluation(dir)) continue;
    throw new HoneError("HONE_ERR_USAGE", `${dir} is no folder of an evaluation`, {
      hint: "hone eval makes one, in evals/ unless --out says where.",
    });
  }
  const comparisons = others.map((after) => compareEvaluations(before, after, Number(flags.show)));
  const columns = columnsOf(process.stdout);
  const texts = comparisons.map((comparison) => comparisonText(comparison, flags.format, columns));
  print(flags, comparisons, texts.join("\n\n"));
  return EXIT.done;
}

export const compareVerb: Verb = (hone, ends) => {
  hone
    .command("compare <first> <more...>")
    .description(
      "set evaluations (folders of hone eval) side by side with the first: differences, problems won and lost, lengths",
    )
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--show <n>", "changed problems to show with their texts", "4")
    .option("--json", "print JSON")
    .action(ends(compare));
};
