import { statSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import { HoneError } from "../../errors.ts";
import { formatTable, TABLE_FORMATS, type TableFormat } from "../../report/table-formats.ts";
import { columnsOf } from "../../report/terminal.ts";
import type { CaptionedTable } from "../../traces/index.ts";
import { EXIT, explain } from "../exit.ts";
import { progress } from "../progress.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly endpoint?: string;
  readonly model?: string;
  readonly apiKeyEnv: string;
  readonly concurrency?: number;
  readonly timeout?: number;
  readonly limit?: number;
  readonly suite?: string;
  readonly out?: string;
  readonly format: TableFormat;
}

async function traces(first: string, second: string | undefined, flags: Flags): Promise<number> {
  const model = modelOf(flags);
  const folders = second === undefined ? [first] : [first, second];
  const file = folders.find(isFile);
  if (file !== undefined && folders.length > 1)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${file} is a file of traces labelled by hand, which is compared with the labels in it: give no second folder`,
    );
  return file === undefined ? look(folders, model, flags) : grade(file, model, flags);
}

type Model = ReturnType<typeof modelOf>;

async function look(folders: readonly string[], model: Model, flags: Flags): Promise<number> {
  const { lookAtTraces } = await import("../../traces/index.ts");
  const { limit, suite, out, json } = flags;
  const line = progress();
  const onProgress = (read: number, total: number) => {
    if (!json) line.show(`${read} of ${total} traces`, read === total);
  };
  const looked = lookAtTraces(folders, { limit, suite, out, model, onProgress });
  const { notes, measures, tables, page, whole, reader } = await looked.finally(() => line.end());
  print(flags, { reader, ...measures, page }, textOf(tables, flags.format));
  if (!json) process.stderr.write(`${[...notes, `the page: ${page}`].join("\n")}\n`);
  return endOf(whole, folders.join(", "));
}

async function grade(file: string, model: Model, flags: Flags): Promise<number> {
  const { gradeOnHand } = await import("../../traces/index.ts");
  const { reader, grades, tables, whole } = await gradeOnHand(file, { model });
  print(flags, { reader, grades }, textOf(tables, flags.format));
  return endOf(whole, file);
}

/** Reports traces or steps without a category; repeating the command asks for them again. */
function endOf(whole: boolean, of: string): number {
  if (whole) return EXIT.done;
  const hint = "The answers so far are kept; repeat the command to ask for the rest.";
  process.stderr.write(
    `${explain(new HoneError("HONE_ERR_DATA", `${of}: some steps or traces have no category`, { hint }))}\n`,
  );
  return EXIT.data;
}

function textOf(tables: readonly CaptionedTable[], format: TableFormat): string {
  const columns = columnsOf(process.stdout);
  const above = (caption: string) =>
    format === "text" || format === "markdown"
      ? `${caption}\n\n`
      : format === "latex"
        ? `% ${caption}\n`
        : "";
  return tables
    .map(({ caption, table }) => `${above(caption)}${formatTable(table, format, columns)}`)
    .join("\n\n");
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The model that labels steps; undefined for the heuristic. */
function modelOf({ endpoint, model, apiKeyEnv, concurrency, timeout }: Flags) {
  if (endpoint === undefined && model === undefined) return undefined;
  if (endpoint === undefined || model === undefined) {
    const hint = "Together they name the model that labels the steps; without both, a heuristic labels them.";
    throw new HoneError("HONE_ERR_USAGE", "--endpoint and --model go together", { hint });
  }
  const key = process.env[apiKeyEnv];
  return {
    url: endpoint,
    model,
    ...(key !== undefined && key !== "" && { key }),
    ...(concurrency !== undefined && { concurrency }),
    ...(timeout !== undefined && { timeoutMs: 1000 * timeout }),
  };
}

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, at least 1.");
}

export const tracesVerb: Verb = (hone, ends) => {
  hone
    .command("traces <first> [second]")
    .description(
      "analyse the steps of reasoning, their length and their kinds: of an evaluation, of two side by side, or of a run's beginning and end (docs/how-to/traces.md)",
    )
    .option("--endpoint <url>", "label with an OpenAI-compatible server, http://.../v1")
    .option("--model <name>", "name of the labelling model on the server (default: a heuristic)")
    .option("--api-key-env <name>", "environment variable that holds the server's key", "HONE_ENDPOINT_KEY")
    .option("--concurrency <n>", "traces at once (default: 8)", count)
    .option("--timeout <seconds>", "seconds per answer (default: 600)", count)
    .option("--limit <n>", "traces per side; both sides sample the same problems", count)
    .option("--suite <name>", "only this suite of an evaluation")
    .option("--out <folder>", "folder for page, tables and figures (default: traces/ in the last folder)")
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--json", "print JSON")
    .action(ends(traces));
};
