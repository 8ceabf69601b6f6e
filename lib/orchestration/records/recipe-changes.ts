import type { Recipe } from "../../config/index.ts";
import { ConfigError, type ConfigIssue } from "../../errors.ts";

/** Fields whose change would alter the meaning of a run's problems, prompts or weights. */
const LASTING = ["seed", "tokenizer", "model.config"] as const;

/**
 * Lists the fields in which a recipe differs from the run's current one, one line per field: "optimizer.lr: 0.001 ->
 * 0.003".
 * @param before the recipe in run.json. Throws HONE_ERR_CONFIG with every changed field that a run must keep: seed,
 * tokenizer, sizes of the model, and the domains with their order, which numbers the problems.
 */
export function recipeChanges(dir: string, before: unknown, now: Recipe): string[] {
  const plain: unknown = JSON.parse(JSON.stringify(now));
  const domains = (recipe: unknown) => Object.keys((at(recipe, "domains") ?? {}) as object);
  const pairs = [
    ...LASTING.map((path) => [path, at(before, path), at(plain, path)] as const),
    ["domains", domains(before), domains(plain)] as const,
  ];
  const issues: ConfigIssue[] = pairs.flatMap(([path, was, is]) =>
    show(was) === show(is) ? [] : [{ path, message: `is ${show(is)}; the run in ${dir} has ${show(was)}` }],
  );
  if (issues.length > 0) throw new ConfigError("a resumed run must keep its original setting", issues);
  return differences(before, plain);
}

function differences(before: unknown, now: unknown, path = ""): string[] {
  if (!isObject(before) || !isObject(now)) {
    return show(before) === show(now) ? [] : [`${path}: ${show(before)} -> ${show(now)}`];
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return keys.flatMap((key) => differences(own(before, key), own(now, key), path ? `${path}.${key}` : key));
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const own = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce((found, key) => (isObject(found) ? own(found, key) : undefined), value);

const show = (value: unknown): string => JSON.stringify(value) ?? "not given";
