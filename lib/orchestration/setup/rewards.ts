import { pathToFileURL } from "node:url";
import { type Recipe, type RewardChoice, rewardFunctions } from "../../config/index.ts";
import { rewardName } from "../../domains/index.ts";
import type { RewardGiver, RewardPlan } from "../../rewards/index.ts";

/** How the recipe's domains with rewards of their own are judged. */
export function rewardPlans(recipe: Recipe): RewardPlan[] {
  return Object.keys(recipe.domains).flatMap((domain) => rewardPlan(recipe, domain) ?? []);
}

/** Undefined for a domain whose problems name their verifiers. */
export function rewardPlan(recipe: Recipe, domain: string): RewardPlan | undefined {
  const { reward, rewards } = recipe.domains[domain]!;
  const functions = rewardFunctions(recipe);
  const verifier = rewardName(domain);
  if (rewards !== undefined) {
    const [first, ...others] = Object.entries(rewards).map(([name, { weight, reward: choice }]) => {
      const part = rewardName(domain, name);
      return { verifier: part, name, weight, giver: giverOf(choice, functions.get(part)) };
    });
    return { verifier, parts: [first!, ...others], isSum: true };
  }
  if (reward === undefined) return undefined;
  const giver = giverOf(reward, functions.get(verifier));
  return { verifier, parts: [{ verifier, name: domain, weight: 1, giver }], isSum: false };
}

function giverOf(
  choice: RewardChoice,
  reward: ReturnType<ReturnType<typeof rewardFunctions>["get"]>,
): RewardGiver {
  if (choice === "verifier") return { by: "verifier" };
  if (typeof choice === "string") return { by: "module", url: moduleUrl(choice) };
  const { function: name, timeoutMs, concurrency } = choice;
  return { by: "function", name, reward, timeoutMs, concurrency };
}

/** Paths are from the working folder. */
function moduleUrl(place: string): string {
  if (place.startsWith("file:")) return place;
  const [path, name] = place.split("#", 2) as [string, string | undefined];
  return `${pathToFileURL(path).href}${name === undefined ? "" : `#${name}`}`;
}

/** Calls of the line to its verifiers at the same time: rewards in this process mostly wait, and hold up nobody else. */
export function verificationCalls(recipe: Recipe): number {
  const waits = rewardPlans(recipe).some(({ parts }) => parts.some(({ giver }) => giver.by === "function"));
  return recipe.verification.workers + (waits ? WAITING_CALLS : 0);
}

const WAITING_CALLS = 16;

/** Who gives a reward, for people: "function short in the main process". */
export function giverText(giver: RewardGiver): string {
  if (giver.by === "verifier") return "the problem's verifier";
  if (giver.by === "module") return `${giver.url} in the verifier pool`;
  return `function ${giver.name} in the main process`;
}
