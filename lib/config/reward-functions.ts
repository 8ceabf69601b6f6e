import { type RewardFunction, rewardName } from "../domains/index.ts";
import { withFileHash } from "./python.ts";
import { sourceHash } from "./source-hash.ts";

/** Functions of a recipe by the name (rewardName) of the domain or set that they judge. */
export type RewardFunctions = ReadonlyMap<string, RewardFunction>;

type Fields = Record<string, unknown>;

/**
 * Replaces the reward functions in a recipe's input, which JSON cannot represent, by their name, a hash of their
 * source, and "main" as their process. Leaves functions elsewhere in place, for the plain-data check to report.
 */
export function takeRewardFunctions(input: unknown): {
  readonly plain: unknown;
  readonly functions: RewardFunctions;
} {
  const functions = new Map<string, RewardFunction>();
  const take = (name: string, value: unknown) => {
    if (isFields(value) && typeof value["python"] === "string") return withFileHash(value, value["python"]);
    const settings = isFields(value) ? value : { function: value };
    if (typeof settings["function"] !== "function") return value;
    const taken = settings["function"] as RewardFunction;
    functions.set(name, taken);
    return { ...settings, function: taken.name || "anonymous", sha256: sourceHash(taken), process: "main" };
  };
  const plain = atRewards(input, take);
  return { plain, functions };
}

/**
 * The inverse of takeRewardFunctions: a shallow copy with every reward function back in the place of its
 * name.
 */
export function putRewardFunctions<T>(plain: T, functions: RewardFunctions): T {
  return atRewards(plain, (name, value) => {
    const own = functions.get(name);
    if (own === undefined || !isFields(value)) return value;
    const { sha256: _, process: __, ...settings } = value;
    return { ...settings, function: own };
  }) as T;
}

type Change = (name: string, value: unknown) => unknown;

/** A shallow copy with `change` made to every reward of every domain and validation set; domains and sets without rewards stay as they are. */
function atRewards(input: unknown, change: Change): unknown {
  if (!isFields(input)) return input;
  const { domains, evaluation } = input;
  return {
    ...input,
    ...(isFields(domains) && { domains: inJudged(domains, change) }),
    ...(isFields(evaluation) &&
      isFields(evaluation["sets"]) && {
        evaluation: { ...evaluation, sets: inJudged(evaluation["sets"], change) },
      }),
  };
}

/** @param judged domains or validation sets by name; names are unique across both */
function inJudged(judged: Fields, change: Change): Fields {
  return mapFields(judged, (name, one) => {
    if (!isFields(one)) return one;
    const { reward, rewards } = one;
    return {
      ...one,
      ...(reward !== undefined && { reward: change(rewardName(name), reward) }),
      ...(isFields(rewards) && {
        rewards: mapFields(rewards, (part, value) =>
          isFields(value) && value["reward"] !== undefined
            ? { ...value, reward: change(rewardName(name, part), value["reward"]) }
            : value,
        ),
      }),
    };
  });
}

const mapFields = (fields: Fields, change: (name: string, value: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(name, value)]));

function isFields(value: unknown): value is Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
