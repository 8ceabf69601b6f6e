import { InvalidArgumentError, Option } from "commander";
import { TABLE_FORMATS, type TableFormat } from "../../report/table-formats.ts";
import { columnsOf } from "../../report/terminal.ts";
import type { ComparisonTable } from "../comparison-tables.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

/** Tables of `hone compare`, in the order in which it prints them. */
const COMPARISON_TABLES = [
  "summary",
  "difference",
  "length",
  "solve-rate",
] as const satisfies readonly ComparisonTable[];

interface Flags extends Common {
  readonly tables: readonly ComparisonTable[];
  readonly format: TableFormat;
  readonly show: number;
}

async function compare(before: string, others: readonly string[], flags: Flags): Promise<number> {
  const { compareEvaluations, modelFolders, summarizeModel } = await import("../../suites/index.ts");
  const { comparisonText, notesOf } = await import("../comparison-tables.ts");
  const [first, ...more] = [before, ...others].map(modelFolders);
  const comparisons = more.map((after) => compareEvaluations(first!, after, flags.show));
  const models = [first!, ...more].map(summarizeModel);
  const text = comparisonText(models, comparisons, { ...flags, columns: columnsOf(process.stdout) });
  print(flags, { models, comparisons }, text);
  for (const note of comparisons.flatMap(notesOf)) process.stderr.write(`${note}\n`);
  return EXIT.done;
}

function shownOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

const isTable = (name: string): name is ComparisonTable =>
  (COMPARISON_TABLES as readonly string[]).includes(name);

function tablesOf(text: string): ComparisonTable[] {
  const names = text.split(",");
  if (names.every(isTable)) return names;
  throw new InvalidArgumentError(`It must be one of ${COMPARISON_TABLES.join(", ")}.`);
}

export const compareVerb: Verb = (hone, ends) => {
  hone
    .command("compare <first> <more...>")
    .description(
      "set evaluations (folders of hone eval) side by side with the first: accuracies, differences, problems won and lost, lengths; name=folder,folder pools trainings",
    )
    .addOption(
      new Option("--tables <names>", `to print, of ${COMPARISON_TABLES.join(", ")}`)
        .argParser(tablesOf)
        .default(["summary", "difference", "length"], "summary,difference,length"),
    )
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--show <n>", "number of changed problems to show with their texts", shownOf, 4)
    .option("--json", "print JSON")
    .action(ends(compare));
};
