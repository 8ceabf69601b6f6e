import { InvalidArgumentError, Option } from "commander";
import { deviceOf } from "../../device.ts";
import { TABLE_FORMATS, type TableFormat } from "../../report/table-formats.ts";
import { columnsOf } from "../../report/terminal.ts";
import type { EvaluationProgress, Suite } from "../../suites/index.ts";
import { EXIT, explain, interruptSignal } from "../exit.ts";
import { progress } from "../progress.ts";
import { type Common, print, STRICT_CONFIG, type Verb, weightsOption } from "./verb.ts";

interface Flags extends Common {
  readonly model: string;
  readonly suite: readonly string[];
  readonly out?: string;
  readonly data?: string;
  readonly verifier?: string;
  readonly maxTokens?: number;
  readonly maxTurns?: number;
  readonly maxTurnTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seeds: readonly number[];
  readonly attempts?: number;
  readonly limit?: number;
  readonly batch?: number;
  readonly workers?: number;
  readonly device?: string;
  readonly weights?: "f32" | "bf16";
  readonly endpoint?: string;
  readonly apiKeyEnv: string;
  readonly concurrency?: number;
  readonly timeout?: number;
  readonly by: readonly string[];
  readonly format: TableFormat;
}

async function evaluateAction(flags: Flags): Promise<number> {
  const { evaluate } = await import("../evaluate-model.ts");
  const { lackOf, resultsText, warningsOf } = await import("../evaluation-tables.ts");
  const { suite, endpoint, device, by, format, json, seeds, ...rest } = flags;
  const line = progress();
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const rate = rateOf();
  const { dir, results } = await evaluate({
    ...rest,
    suites: suite,
    seeds,
    ...(device !== undefined && { device: deviceOf(device, "--device") }),
    ...(endpoint !== undefined && { endpoint: endpointOf(endpoint, flags) }),
    signal: interruptSignal(say),
    onProgress: (told) => {
      if (!json) line.show(progressText(told, rate(told.tokens)), isThrough(told));
    },
    onSuite: (opened) => {
      const left = leftOutText(opened);
      if (left !== undefined && !json) say(left);
    },
  }).finally(() => line.end());
  print(flags, results, resultsText(results, by, format, columnsOf(process.stdout)));
  for (const text of warningsOf(results)) say(`warning: ${text}`);
  if (!json) say(`kept in ${dir}`);
  const lack = lackOf(results, dir);
  if (lack === undefined) return EXIT.done;
  say(explain(lack));
  return EXIT.data;
}

function endpointOf(url: string, { apiKeyEnv, concurrency, timeout }: Flags) {
  const key = process.env[apiKeyEnv];
  return {
    url,
    ...(key !== undefined && key !== "" && { key }),
    ...(concurrency !== undefined && { concurrency }),
    ...(timeout !== undefined && { timeoutMs: 1000 * timeout }),
  };
}

const isThrough = ({ wanted, there, waiting }: EvaluationProgress): boolean =>
  there === wanted && waiting === 0;

function progressText({ wanted, there, waiting, outages }: EvaluationProgress, rate: number): string {
  const n = (count: number) => count.toLocaleString("en");
  const lost = outages > 0 ? `, ${n(outages)} outages` : "";
  return `${n(there)} of ${n(wanted)} completions, ${n(waiting)} to judge${lost}, ${n(rate)} tokens/s`;
}

/** Measures tokens per second since the first token. */
function rateOf(): (tokens: number) => number {
  let begun: number | undefined;
  return (tokens) => {
    if (tokens > 0) begun ??= performance.now();
    const seconds = (performance.now() - (begun ?? performance.now())) / 1000;
    return seconds < 1 ? 0 : Math.round(tokens / seconds);
  };
}

function leftOutText({ name, count, report }: Suite): string | undefined {
  const out = [...(report?.bad ?? []), ...(report?.leftOut ?? []), ...(report?.duplicates ?? [])];
  if (out.length === 0) return undefined;
  const why = out.map(({ reason, rows, first }) => `${rows} ${reason} (first ${first[0]})`).join("; ");
  return `${name}: ${count} of ${report!.rows} rows are asked; left out: ${why}`;
}

/** Parses seeds: "42..51", "1,2,5". */
export function seedsOf(text: string): number[] {
  const seeds = text.split(",").flatMap((part) => {
    const [, from, to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(part.trim()) ?? [];
    if (from === undefined || Number(to) < Number(from) || Number(to) - Number(from) > 10_000)
      throw new InvalidArgumentError("It must be like 42, 42..51 or 1,2,5.");
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
  });
  return [...new Set(seeds)];
}

const number = (low: number, high: number, isWhole: boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() !== "" && value >= low && value <= high && (!isWhole || Number.isInteger(value)))
    return value;
  throw new InvalidArgumentError(`It must be ${isWhole ? "an integer" : "a number"} from ${low} to ${high}.`);
};
const count = (high = 2 ** 30) => number(1, high, true);
const listed = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(",").map((s) => s.trim()),
];

export const evalVerb: Verb = (hone, ends) => {
  hone
    .command("eval")
    .description(
      "measure a model on suites of problems, keeping every completion (docs/how-to/evaluation.md)",
    )
    .requiredOption(
      "--model <model>",
      "model folder, org/name of the Hub, run folder or run@step; with --endpoint the model's name on the server",
    )
    .requiredOption(
      "--suite <names>",
      "aime25,gsm8k=path,rows.jsonl,mine.mjs,procedural,... (repeatable)",
      listed,
    )
    .option("--out <folder>", "where completions and results are kept (default: evals/<model>)")
    .option("--data <folder>", "folder of the published sets, each under its suite's name (default: data)")
    .option("--verifier <name>", "verifier for a file's rows of no published kind (default: math)")
    .option("--max-tokens <n>", "longest answer, thinking included (default: 32768)", count())
    .option("--max-turns <n>", "for episodes: most messages (default: 3)", count(1 << 16))
    .option("--max-turn-tokens <n>", "for episodes: most tokens of one message", count())
    .option("--temperature <t>", "sampling temperature; 0 is greedy (default: 0.6)", number(0, 1e4, false))
    .option("--top-p <p>", "top-p (nucleus) sampling; 1 is off (default: 0.95)", number(1e-6, 1, false))
    .addOption(
      new Option("--seeds <seeds>", "decoding seeds, such as 42..51").argParser(seedsOf).default([42], "42"),
    )
    .option("--attempts <n>", "completions per problem and seed (default: 1)", count(1 << 16))
    .option("--limit <n>", "use only the first n problems of each suite", count())
    .option("--batch <n>", "sequences that decode at once (default: 64)", count(1 << 16))
    .option("--workers <n>", "verifier processes (default: 2)", count(256))
    .option("--device <name>", "cpu or cuda (default: cpu, or what HONE_DEVICE says)")
    .addOption(weightsOption())
    .option("--endpoint <url>", "ask an OpenAI-compatible server, http://.../v1, instead")
    .option("--api-key-env <name>", "environment variable that holds the server's key", "HONE_ENDPOINT_KEY")
    .option("--concurrency <n>", "requests to the server at once (default: 16)", count(4096))
    .option("--timeout <seconds>", "seconds per answer (default: 1800)", count(1 << 20))
    .addOption(
      new Option("--by <parts>", "also break down by subject, level (repeatable)")
        .argParser((text: string, before: readonly string[]) => listed(text, before))
        .default([], "neither"),
    )
    .addOption(new Option("--format <format>", "of the tables").choices([...TABLE_FORMATS]).default("text"))
    .option("--json", "print JSON")
    .option(...STRICT_CONFIG)
    .action(ends(evaluateAction));
};
