import type { Recipe } from "../config/index.ts";
import { type DatasetReport, reportLine } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import {
  admissionOf,
  encodePrompt,
  type Model,
  openModel,
  openSources,
  openVerifiers,
} from "../orchestration/index.ts";
import { expectFit, inUnits, type MemoryPlan } from "../plan/index.ts";
import type { DomainName } from "../records.ts";
import { rehearse, rehearseStep } from "./dry-run.ts";
import { planRecipe, UNKNOWN_MEMORY } from "./plan.ts";

export interface DomainCheck {
  readonly questions: readonly string[];
  readonly longestPrompt: number;
  readonly verifiers: readonly string[];
  /** What became of the rows of a data set. */
  readonly report?: DatasetReport;
}

/** One thing that was tried. */
export interface Stage {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, or what is wrong. */
  readonly said: string;
  /** What was not at hand, and what was tried in its place. */
  readonly instead?: string;
}

export interface Findings {
  readonly recipe: Recipe;
  readonly stages: readonly Stage[];
  readonly domains: Readonly<Record<DomainName, DomainCheck>>;
  readonly plan: MemoryPlan;
}

const SAMPLES = 3;

/**
 * A dry run: the model's files, every domain's data, prompts and verifiers on three problems, the memory it takes, and
 * one real step of the line with a two-layer model of the same architecture. What is not at hand (weights, tokenizer,
 * data sets) is replaced and named. Throws what model, data and verifiers say to the recipe.
 */
export async function checkRecipe(recipe: Recipe): Promise<Findings> {
  await using rehearsal = await rehearse(recipe);
  const instead = (what: string) => {
    const missing = rehearsal.missing.get(what);
    return missing === undefined ? {} : { instead: missing };
  };
  const stages: Stage[] = [
    { name: "recipe", ok: true, said: `${recipe.name}, seed ${recipe.seed}: every field is valid` },
  ];
  const plan = await planRecipe(recipe);
  const model = await openModel(rehearsal.recipe);
  const parameters = `${plan.network.parameters.toLocaleString("en")} parameters`;
  stages.push({
    ...{ name: "model", ok: true, ...instead("model") },
    said: `${parameters}, ${model.tokenizer.vocabularySize.toLocaleString("en")} tokens, answers end at ${model.format.stopIds.join(", ")}`,
  });
  await using verifiers = openVerifiers(recipe);
  const domains = await checkDomains(rehearsal.recipe, model, verifiers);
  for (const [domain, { longestPrompt, verifiers: judges }] of Object.entries(domains)) {
    const said = `prompts up to ${longestPrompt} tokens, judged by ${judges.join(", ")}`;
    stages.push({ name: domain, ok: true, said, ...instead(domain) });
  }
  const { metrics } = await rehearseStep(rehearsal.small, verifiers);
  const rollouts = rehearsal.small.training.groupsPerStep * rehearsal.small.rollouts.groupSize;
  stages.push({
    ...{ name: "one step", ok: true },
    said: `2 layers of the same architecture on the CPU: ${rollouts} rollouts judged, gradient of norm ${metrics["grad/norm"]!.toPrecision(3)}, weights updated and published`,
  });
  stages.push(memoryStage(plan));
  return { recipe, stages, domains, plan };
}

/** Tries data, prompts and verifiers on three problems of every domain. */
async function checkDomains(
  recipe: Recipe,
  { format }: Model,
  verifiers: ReturnType<typeof openVerifiers>,
): Promise<Record<DomainName, DomainCheck>> {
  const domains: Record<DomainName, DomainCheck> = {};
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
  return domains;
}

function memoryStage(plan: MemoryPlan): Stage {
  try {
    expectFit(plan);
  } catch (error) {
    if (!HoneError.is(error)) throw error;
    return { name: "memory", ok: false, said: `${error.message}. ${error.hint ?? ""}` };
  }
  const roles = plan.roles.map(({ role, devices, total }) =>
    devices > 1 ? `${inUnits(total)} on each of ${devices} (${role})` : `${inUnits(total)} (${role})`,
  );
  const { device, capacity } = plan;
  if (capacity === undefined)
    return { name: "memory", ok: true, said: `${device}: ${roles.join(", ")}`, instead: UNKNOWN_MEMORY };
  return { name: "memory", ok: true, said: `${device}, ${inUnits(capacity)}: ${roles.join(", ")}` };
}

/** A tick or a cross a stage; below it what was not at hand, rows left out, and the first questions. */
export function checkText({ recipe, stages, domains }: Findings): string {
  const width = Math.max(...stages.map(({ name }) => name.length));
  const lines = stages.flatMap(({ name, ok, said, instead }) => {
    const found = Object.hasOwn(domains, name) ? domains[name] : undefined;
    const more = [
      ...(instead === undefined ? [] : [instead]),
      ...(found?.report ? [reportLine(found.report)] : []),
      ...(found?.questions ?? []).slice(0, 1).map((question) => `e.g. ${oneLine(question)}`),
    ];
    return [
      `${ok ? "✓" : "✗"} ${name.padEnd(width)}  ${said}`,
      ...more.map((line) => `  ${" ".repeat(width)}  ${line}`),
    ];
  });
  return [...lines, "", JSON.stringify(recipe, null, 2)].join("\n");
}

const MAX_LINE = 100;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}
