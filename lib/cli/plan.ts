import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { nativeCore, thisMachine } from "../orchestration/index.ts";
import {
  type Advice,
  choiceText,
  fromUnits,
  inUnits,
  type Machine,
  type MemoryPlan,
  type Network,
  type Proposal,
  planMemory,
  type RolePlan,
  settings,
} from "../plan/index.ts";
import { recipeConfig, teacherConfig } from "./recipe-config.ts";

/** Advice if the GPU's memory is unknown. */
export const UNKNOWN_MEMORY =
  "the GPU's memory is not known, because no GPU was found on this machine; give it with --gpu-memory 80GiB (of `hone plan`), or in the recipe's hardware: { gpu, gpuMemoryGiB }";

/** No GPU has less memory; a smaller amount lacks its unit. */
const LEAST_MEMORY = 2 ** 30;

/**
 * Plans a recipe for the CPU against this machine's memory, and one for GPUs against, in this order, `gpuMemory`, its
 * `hardware`, or this machine's first GPU; without any of them the plan has no capacity.
 * @param gpuMemory as on the command line: "80GiB". Throws HONE_ERR_USAGE for another unit.
 */
export async function planRecipe(
  recipe: Recipe,
  gpuMemory?: string,
  askGpu: typeof firstGpu = firstGpu,
): Promise<MemoryPlan> {
  const bytes = gpuMemory === undefined ? undefined : fromUnits(gpuMemory);
  if (gpuMemory !== undefined && (!bytes || bytes < LEAST_MEMORY)) {
    const what = bytes ? `${inUnits(bytes)}, less than any GPU has` : "not an amount of memory";
    throw new HoneError("HONE_ERR_USAGE", `--gpu-memory is "${gpuMemory}", which is ${what}`, {
      hint:
        /^\d+$/.test(gpuMemory) && bytes ? `Give it as ${gpuMemory}GiB.` : "Give it as 80GiB, for example.",
    });
  }
  const asks = recipe.device === "cuda" && recipe.hardware?.gpuMemoryGiB === undefined && bytes === undefined;
  const gpu = asks ? await askGpu() : undefined;
  const machine = { ...thisMachine(), ...(gpu && { gpu }) };
  const model = { config: await recipeConfig(recipe), teacher: await teacherConfig(recipe) };
  return planMemory(recipe, model, machine, bytes);
}

/** Returns undefined if the core cannot be loaded, since a plan needs nothing else from it. */
async function firstGpu(): Promise<Machine["gpu"]> {
  try {
    return thisMachine((await nativeCore()).info().cuda).gpu;
  } catch (error) {
    if (!HoneError.is(error)) throw error;
    return undefined;
  }
}

/** Number of weights per token that a mixture of experts uses; empty for a dense model. */
const activeText = (n: Pick<Network, "experts" | "activeParameters">) =>
  n.experts > 0 ? `, ${n.activeParameters.toLocaleString("en")} of them active for a token,` : "";

/** One block per role: classes of tensors, largest first, with their share; the total against the capacity; the remainder. */
export function planText(recipe: Recipe, plan: MemoryPlan): string {
  const { network: n, device, capacity } = plan;
  const each = device === "CPU" ? "" : " each";
  const size = capacity === undefined ? "memory unknown" : `${inUnits(capacity)}${each}`;
  const head = [
    `${recipe.name}: ${n.parameters.toLocaleString("en")} parameters${activeText(n)} on ${device}, ${size}`,
    `  ${n.layers} layers, width ${n.width}, ${n.heads} heads and ${n.kvHeads} for keys and values of ${n.headDim},`,
    `  ${n.experts > 0 ? `${n.experts} experts of ${n.expertWidth}, ${n.expertsPerToken} a token` : `MLP ${n.mlpWidth}`}, vocabulary ${n.vocabulary}${n.tiedHead ? ", tied head" : ""}`,
  ];
  const unknown = capacity === undefined ? ["", UNKNOWN_MEMORY] : [];
  const saved = inUnits(plan.recomputeSaves);
  const choice = choiceText(plan);
  const recompute = (plan.chosen?.recipe ?? recipe).hardware?.recompute
    ? `hardware.recompute: ${saved} of activations are computed again, not kept`
    : `hardware.recompute: true would keep ${saved} of activations less`;
  return [
    ...head,
    ...plan.roles.flatMap((role) => ["", ...roleLines(role, capacity, plan.together !== undefined)]),
    ...togetherLines(plan),
    "",
    recompute,
    ...plan.hostRows.map(({ name, bytes }) => `${inUnits(bytes)} of the host's own memory: ${name}`),
    ...(choice === undefined ? [] : ["", `A run makes this fit by ${choice}.`]),
    ...(plan.advice === undefined ? [] : ["", ...adviceLines(plan.advice)]),
    ...unknown,
  ].join("\n");
}

/** Lists each proposal as command-line options, the cost of each of its changes, and the resulting memory. */
function adviceLines({ proposals, least }: Advice): string[] {
  const block = (proposal: Proposal, first: string) => [
    `${first}${settings(proposal)}`,
    ...proposal.changes.map(({ name, cost }) => `     ${name}: ${cost}`),
  ];
  if (proposals.length === 0)
    return [
      "No change makes it fit here.",
      ...block(least, `   The minimum it needs is ${inUnits(least.total)}, by `),
    ];
  return [
    "Changes that make it fit, cheapest first; every part is needed (docs/reference/recipe.md, Fitting a card):",
    ...proposals.flatMap((proposal, i) => [
      ...block(proposal, `  ${i + 1}. `),
      `     then ${inUnits(proposal.total)}; keys and values of ${proposal.keyValueTokens.toLocaleString("en")} tokens fit`,
    ]),
  ];
}

/** Total memory of the processes that share one machine. */
function togetherLines({ together, capacity = Number.NaN }: MemoryPlan): string[] {
  if (together === undefined) return [];
  const where = together.nodes > 1 ? `the fullest of ${together.nodes} machines` : "one machine";
  const left = capacity - together.total;
  const rest = left >= 0 ? `${inUnits(left)} free` : `${inUnits(-left)} over`;
  return ["", `all processes of ${where}: ${inUnits(together.total)}, ${rest}`];
}

function roleLines(role: RolePlan, capacity: number | undefined, shared: boolean): string[] {
  const { rows, total, devices, keyValueTokens: tokens } = role;
  const largestFirst = rows.toSorted((a, b) => b.bytes - a.bytes);
  const width = Math.max("free".length, ...rows.map(({ name }) => name.length));
  const line = (name: string, bytes: number) =>
    `  ${name.padEnd(width)} ${inUnits(bytes).padStart(10)}${share(bytes, capacity)}`;
  const rule = `  ${"─".repeat(width + (capacity === undefined ? 11 : 18))}`;
  const left = capacity === undefined || shared ? [] : [freeLine(line, capacity - total)];
  const many = shared ? "processes" : "GPUs";
  return [
    `${role.role}${devices > 1 ? `, each of ${devices} ${many}` : ""}`,
    ...largestFirst.map(({ name, bytes }) => line(name, bytes)),
    rule,
    line("total", total),
    ...left,
    ...(tokens.asked === 0 ? [] : ["", `  ${keyValueLine(tokens)}`]),
  ];
}

const freeLine = (line: (name: string, bytes: number) => string, left: number) =>
  left >= 0 ? line("free", left) : line("over", -left);

const share = (bytes: number, capacity: number | undefined) =>
  capacity === undefined ? "" : ` ${`${((100 * bytes) / capacity).toFixed(1)} %`.padStart(6)}`;

function keyValueLine({ asked, fit }: RolePlan["keyValueTokens"]): string {
  const n = (count: number) => count.toLocaleString("en");
  const room = fit === undefined ? "" : `; ${n(fit)} would fit`;
  return `keys and values of ${n(asked)} tokens asked for${room}`;
}
