import type { Recipe } from "../config/index.ts";
import { type DatasetReport, reportLine } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import { modelSizes, parameterCount } from "../inference/index.ts";
import { admissionOf, encodePrompt, openModel, openSources, openVerifiers } from "../orchestration/index.ts";
import type { DomainName } from "../records.ts";

export interface DomainCheck {
  readonly questions: readonly string[];
  readonly longestPrompt: number;
  readonly verifiers: readonly string[];
  /** What became of the rows of a data set. */
  readonly report?: DatasetReport;
}

export interface Findings {
  readonly recipe: Recipe;
  readonly domains: Readonly<Record<DomainName, DomainCheck>>;
  /** Bytes, from the sizes alone. */
  readonly memory: Readonly<Record<string, number>>;
  readonly parameters: number;
}

const SAMPLES = 3;

/** Tries data, prompts and verifiers on three problems of every domain, without the native core. */
export async function checkRecipe(recipe: Recipe): Promise<Findings> {
  const { config, format } = await openModel(recipe);
  const domains: Record<DomainName, DomainCheck> = {};
  await using verifiers = openVerifiers(recipe);
  for (const [domain, source] of await openSources(recipe, admissionOf(recipe, format))) {
    const problems = Array.from({ length: SAMPLES }, (_, i) => source.problem(i));
    const lengths = problems.map(
      (p) => encodePrompt(p, format, recipe.rollouts.maxPromptTokens).tokens.length,
    );
    const silence = problems.map((problem) => ({ problem, text: "", finish: "eos" as const }));
    for (const [i, verdict] of (await verifiers.verify(silence)).entries()) {
      if (verdict.status !== "unscored" && verdict.status !== "correct") continue;
      const found =
        verdict.status === "unscored" ? `cannot judge: ${verdict.cause}` : "takes an empty answer for right";
      throw new HoneError(
        "HONE_ERR_VERIFIER",
        `${problems[i]!.verifier} ${found} (problem ${problems[i]!.id})`,
      );
    }
    domains[domain] = {
      questions: problems.map((p) => p.question),
      longestPrompt: Math.max(...lengths),
      verifiers: [...new Set(problems.map((p) => p.verifier))],
      ...(source.report && { report: source.report }),
    };
  }
  const parameters = parameterCount(config);
  return { recipe, domains, parameters, memory: memoryPlan(recipe, parameters, modelSizes(config)) };
}

function memoryPlan(
  { model, engine }: Recipe,
  parameters: number,
  { kvHeads, headDim, layers }: ReturnType<typeof modelSizes>,
): Record<string, number> {
  const bytes = model.weightStorage === "bf16" ? 2 : 4;
  return {
    "master weights": parameters * 4,
    "optimizer moments": parameters * 8,
    gradients: parameters * 4,
    "weights in the engine": parameters * bytes,
    "key/value cache": engine.pages * engine.pageTokens * layers * kvHeads * headDim * 2 * bytes,
  };
}

export function checkText({ recipe, domains, memory, parameters }: Findings): string {
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const lines = [
    `${recipe.name}: ${parameters.toLocaleString("en")} parameters, seed ${recipe.seed}`,
    ...Object.entries(memory).map(([name, bytes]) => `  ${name.padEnd(22)} ${mebibytes(bytes)}`),
  ];
  for (const [domain, found] of Object.entries(domains)) {
    lines.push(
      `${domain}: prompts up to ${found.longestPrompt} tokens, judged by ${found.verifiers.join(", ")}`,
    );
    if (found.report) lines.push(`  ${reportLine(found.report)}`);
    lines.push(...found.questions.map((q) => `  ${q}`));
  }
  return [...lines, "", JSON.stringify(recipe, null, 2)].join("\n");
}
