import { availableParallelism, totalmem } from "node:os";
import type { Recipe } from "../config/index.ts";
import { QUICKSTART_LEXICON } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import { findConfig } from "../inference/index.ts";
import { newModelConfig } from "../orchestration/index.ts";
import { fromUnits, inUnits, type MemoryPlan, planMemory, type RolePlan } from "../plan/index.ts";
import { LexiconTokenizer } from "../text/index.ts";

/** The model's config.json, from its folder, the Hub's cache or the table of published models. Throws HONE_ERR_IO. */
export async function recipeConfig({ model }: Recipe): Promise<string> {
  if (model.folder !== undefined) return (await findConfig(model.folder)).config;
  return newModelConfig(model.config, new LexiconTokenizer(QUICKSTART_LEXICON).vocabularySize);
}

/** @param gpuMemory as on the command line: "80GiB". Throws HONE_ERR_USAGE for another unit. */
export async function planRecipe(recipe: Recipe, gpuMemory?: string): Promise<MemoryPlan> {
  const bytes = gpuMemory === undefined ? undefined : fromUnits(gpuMemory);
  if (gpuMemory !== undefined && !bytes) {
    throw new HoneError("HONE_ERR_USAGE", `--gpu-memory is "${gpuMemory}", which is no amount of memory`, {
      hint: "Say it like 80GiB.",
    });
  }
  const machine = { memory: totalmem(), threads: availableParallelism() };
  return planMemory(recipe, await recipeConfig(recipe), machine, bytes);
}

/** One block a role: classes of tensors, largest first, with their share; total against capacity; what is left. */
export function planText(recipe: Recipe, plan: MemoryPlan): string {
  const { network: n, device, capacity } = plan;
  const head = [
    `${recipe.name}: ${n.parameters.toLocaleString("en")} parameters on ${device}, ${inUnits(capacity)}${device === "CPU" ? "" : " each"}`,
    `  ${n.layers} layers, width ${n.width}, ${n.heads} heads and ${n.kvHeads} for keys and values of ${n.headDim}, MLP ${n.mlpWidth}, vocabulary ${n.vocabulary}${n.tiedHead ? ", tied head" : ""}`,
  ];
  return [...head, ...plan.roles.flatMap((role) => ["", ...roleLines(role, capacity)])].join("\n");
}

function roleLines(role: RolePlan, capacity: number): string[] {
  const { rows, total, devices, keyValueTokens: tokens } = role;
  const largestFirst = rows.toSorted((a, b) => b.bytes - a.bytes);
  const width = Math.max("free".length, ...rows.map(({ name }) => name.length));
  const line = (name: string, bytes: number) =>
    `  ${name.padEnd(width)} ${inUnits(bytes).padStart(10)} ${share(bytes, capacity).padStart(6)}`;
  const rule = `  ${"─".repeat(width + 18)}`;
  const left = capacity - total;
  return [
    `${role.role}${devices > 1 ? `, each of ${devices} GPUs` : ""}`,
    ...largestFirst.map(({ name, bytes }) => line(name, bytes)),
    rule,
    line("total", total),
    left >= 0 ? line("free", left) : line("over", -left),
    ...(tokens.asked === 0 ? [] : ["", `  ${keyValueLine(tokens)}`]),
  ];
}

const share = (bytes: number, capacity: number) => `${((100 * bytes) / capacity).toFixed(1)} %`;

function keyValueLine({ asked, fit }: RolePlan["keyValueTokens"]): string {
  const n = (count: number) => count.toLocaleString("en");
  return `keys and values of ${n(asked)} tokens asked for; ${n(fit)} would fit`;
}
