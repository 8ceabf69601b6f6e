import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Recipe } from "../config/index.ts";
import { RUN_FILES, readJson } from "../metrics/index.ts";
import { packageVersion } from "../native/load.ts";
import { type RunSummary, scoreRows, settingName } from "../report/index.ts";
import { parseConfig } from "../shared/models/config-json.ts";

/** The contents of a card: a run, and the folder it started from, if any. */
export interface CardFacts {
  readonly run: string;
  readonly recipe: Recipe;
  readonly checkpoint: string;
  /** The base model's folder; undefined for a run from random weights. */
  readonly source: string | undefined;
}

/** README.md of a trained model: its base, training data and method, scores and licence. */
export function modelCard({ run, recipe, checkpoint, source }: CardFacts): string {
  const { name, objective, optimizer, training, rollouts, lengthPenalty } = recipe;
  const base = recipe.model.folder ?? "random weights";
  const licence = source === undefined ? undefined : licenceOf(source);
  const facts = [
    ["base model", base],
    [
      "trained",
      `${checkpoint}, objective ${objective.kind}, learning rate ${optimizer.lr}, seed ${recipe.seed}`,
    ],
    [
      "groups",
      `${training.groupsPerStep} of ${rollouts.groupSize} answers a step, up to ${rollouts.maxOutputTokens} tokens each`,
    ],
    ["length penalty", lengthPenalty.kind],
    ["software", `Hone ${packageVersion()}`],
    ...(source === undefined ? [] : storageRow(source)),
  ];
  return [
    "---",
    ...(recipe.model.folder === undefined ? [] : [`base_model: ${JSON.stringify(base)}`]),
    ...(licence === undefined ? [] : [`license: ${licence}`]),
    "library_name: transformers",
    "---",
    "",
    `# ${name}`,
    "",
    `Trained from ${source === undefined ? base : `\`${base}\``} by reinforcement learning from verifiable rewards. This card was written by \`hone export\`.`,
    "",
    ...table(["", ""], facts),
    "",
    "## Data",
    "",
    ...table(["domain", "weight", "source"], dataRows(recipe)),
    "",
    ...scoreSection(run),
    "## Licence",
    "",
    licenceText(source, licence),
    "",
    "## Recipe",
    "",
    "```json",
    JSON.stringify(recipe, null, 2),
    "```",
    "",
  ].join("\n");
}

/** States, if the base model's weights are quantized, which dequantized values were trained. */
function storageRow(source: string): string[][] {
  const path = join(source, "config.json");
  const config = (existsSync(path) ? parseConfig(readFileSync(path, "utf8")) : {}) as {
    readonly quantization_config?: { readonly quant_method?: string };
  };
  const method = config.quantization_config?.quant_method;
  return method === undefined ? [] : [["weights", `floats; the base model's are quantized (${method})`]];
}

const dataRows = ({ domains }: Recipe) =>
  Object.entries(domains).map(([domain, { weight, source }]) => [
    domain,
    String(weight),
    `\`${typeof source === "string" ? source : `${source.kind}: ${[source.path].flat().join(", ")}`}\``,
  ]);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

/** Held-out scores before and after, if the run was completed. */
function scoreSection(run: string): string[] {
  const path = join(run, RUN_FILES.summary);
  const summary = existsSync(path) ? (readJson(path) as RunSummary) : undefined;
  if (summary === undefined || summary.after.length === 0)
    return ["## Scores", "", "Not measured: the run ended before its closing evaluation.", ""];
  return summary.before.flatMap((before, i) => {
    const after = summary.after[i]!;
    const rows = scoreRows(before, after).map(({ name, was, is }) => {
      const score = ({ score, standardError }: typeof before.mean) =>
        `${score.toFixed(3)} ± ${standardError.toFixed(3)}`;
      return [
        name,
        score(was),
        is === undefined ? "–" : score(is),
        was.meanTokens.toFixed(1),
        is?.meanTokens.toFixed(1) ?? "–",
        String(is?.n ?? 0),
      ];
    });
    const head = ["domain", "score before", "after", "tokens before", "after", "answers"];
    return [
      `## Scores, ${settingName(before)}`,
      "",
      "Held-out problems; ± is one standard error.",
      "",
      ...table(head, rows),
      "",
    ];
  });
}

/** The licence in the front matter of the base model's card, as in "license: apache-2.0". */
function licenceOf(source: string): string | undefined {
  const card = join(source, "README.md");
  const text = existsSync(card) ? readFileSync(card, "utf8") : "";
  const front = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? "";
  return /^license:\s*["']?([\w.+-]+)/m.exec(front)?.[1];
}

function licenceText(source: string | undefined, licence: string | undefined): string {
  if (source === undefined) return "These weights began at random: the licence is yours to choose.";
  if (licence !== undefined)
    return `The base model's own card names \`${licence}\`. The trained weights are derived from that model, so its terms still apply.`;
  return "The base model's folder names no licence. The trained weights are derived from that model: look up its terms before you publish them.";
}
