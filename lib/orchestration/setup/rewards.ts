import { pythonSettings, type Recipe, type RewardChoice, rewardFunctions } from "../../config/index.ts";
import { type RewardScale, rewardName } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import { keyOf, type RewardGiver, type RewardPlan } from "../../rewards/index.ts";
import { moduleUrl, pythonPlace } from "../../user-module.ts";

/** Plans for judging the recipe's domains and validation sets that have rewards of their own. */
export function rewardPlans(recipe: Recipe): RewardPlan[] {
  return Object.keys(judgedOf(recipe)).flatMap((name) => rewardPlan(recipe, name) ?? []);
}

/** Merges domains and validation sets, which never share a name. */
const judgedOf = ({ domains, evaluation }: Recipe) => ({ ...evaluation.sets, ...domains });

/** Undefined if the problems name their verifiers. @param domain a domain or validation set */
export function rewardPlan(recipe: Recipe, domain: string): RewardPlan | undefined {
  const { reward, rewards, range, solvedAt } = judgedOf(recipe)[domain]!;
  const functions = rewardFunctions(recipe);
  const verifier = rewardName(domain);
  if (rewards !== undefined) {
    const [first, ...others] = Object.entries(rewards).map(([name, { weight, reward: choice, ...own }]) => {
      const part = rewardName(domain, name);
      const giver = giverOf(recipe, choice, functions.get(part));
      return { verifier: part, name, weight, ...scaleOf(own), giver };
    });
    return { verifier, parts: [first!, ...others], isSum: true };
  }
  if (reward === undefined) return undefined;
  const giver = giverOf(recipe, reward, functions.get(verifier));
  const part = { verifier, name: domain, weight: 1, ...scaleOf({ range, solvedAt }), giver };
  return { verifier, parts: [part], isSum: false };
}

const scaleOf = (scale: RewardScale): { readonly scale?: RewardScale } =>
  scale.range === undefined && scale.solvedAt === undefined ? {} : { scale };

function giverOf(
  recipe: Recipe,
  choice: RewardChoice,
  reward: ReturnType<ReturnType<typeof rewardFunctions>["get"]>,
): RewardGiver {
  if (choice === "verifier") return { by: "verifier" };
  if (typeof choice === "string") return { by: "module", url: moduleUrl(choice) };
  if ("judge" in choice) return { by: "judge", judge: choice.judge };
  if ("python" in choice) return { by: "python", python: pythonGiver(recipe, choice) };
  const { function: name, timeoutMs, concurrency } = choice;
  return { by: "function", name, reward, timeoutMs, concurrency };
}

function pythonGiver(recipe: Recipe, { python, completions }: PythonChoice): PythonGiver {
  const { bin, env, processes, timeoutSeconds } = pythonSettings(recipe);
  const { file, name } = pythonPlace(python);
  const maxSteps = recipe.training.steps;
  const call = { command: bin, file, function: name, completions, maxSteps, processes };
  return { call, timeoutMs: timeoutSeconds * 1000, variables: env };
}

type PythonChoice = Extract<RewardChoice, { python: string }>;
type PythonGiver = Extract<RewardGiver, { by: "python" }>["python"];

/**
 * Number of concurrent calls to the verifiers, given the current number of workers. Rewards in this process mostly
 * wait, and block no other call.
 */
export function verificationCalls(recipe: Recipe): (workers: number) => number {
  const givers = giversOf(recipe);
  const waits = givers.some(({ by }) => by === "function" || by === "judge");
  const python = givers.some(({ by }) => by === "python") ? pythonSettings(recipe).processes : 0;
  return (workers) => workers + python + (waits ? WAITING_CALLS : 0);
}

const giversOf = (recipe: Recipe): RewardGiver[] =>
  rewardPlans(recipe).flatMap(({ parts }) => parts.map(({ giver }) => giver));

/**
 * Throws HONE_ERR_CONFIG for a reward function that is not in this process, as in a recipe read from JSON,
 * and for a judge's missing key.
 */
export function expectRewards(recipe: Recipe): void {
  for (const giver of giversOf(recipe)) {
    if (giver.by === "judge") keyOf(giver.judge.apiKeyEnv);
    if (giver.by !== "function" || giver.reward !== undefined) continue;
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `the reward function ${giver.name} is not available in this process, only its name`,
      {
        hint: "Run the script that has it: a recipe that went through JSON, or was spread into another object, lost its functions.",
      },
    );
  }
}

const WAITING_CALLS = 16;

/** Describes the source of a reward: "function short in the main process". */
export function giverText(giver: RewardGiver): string {
  if (giver.by === "verifier") return "the problem's verifier";
  if (giver.by === "judge") {
    const { kind, model, url, samplings } = giver.judge;
    return `${model} at ${url} judges (${kind}, ${samplings} ${samplings === 1 ? "sampling" : "samplings"})`;
  }
  if (giver.by === "module") return `${giver.url} in the verifier pool`;
  if (giver.by === "python") {
    const { function: name, file, command, processes } = giver.python.call;
    const of = `${name || "reward"} of ${file}`;
    return `${of} in ${processes === 1 ? "a process" : `${processes} processes`} of ${command.join(" ")}`;
  }
  return `function ${giver.name} in the main process`;
}
