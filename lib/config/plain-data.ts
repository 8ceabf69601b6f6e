import { ConfigError, type ConfigIssue } from "../errors.ts";

const DEEPEST = 64;
const REMEDY = "a recipe is plain data, because the run folder keeps it as JSON";

/** Names of inherited properties: assigning to them changes other objects, or has no effect. */
const RESERVED: readonly string[] = ["__proto__", "constructor", "prototype"];
export const isReserved = (key: string): boolean => RESERVED.includes(key);
export const RESERVED_NAME = "is a name that JavaScript reserves; choose another";

/**
 * Throws ConfigError with the path of every value that JSON cannot hold (functions, classes, bigints, cycles) and of every
 * key that is reserved.
 */
export function expectPlainData(input: unknown, where: string): void {
  const issues = [...impurities(input, [], [])];
  if (issues.length > 0) throw new ConfigError(where, issues);
}

function* impurities(
  value: unknown,
  path: readonly string[],
  above: readonly object[],
): Generator<ConfigIssue> {
  const what = impurity(value, above);
  if (what !== undefined) yield { path: path.join("."), message: `is ${what}; ${REMEDY}` };
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value))
      if (isReserved(key)) yield { path: [...path, key].join("."), message: RESERVED_NAME };
      else yield* impurities(inner, [...path, key], [...above, value]);
}

function impurity(value: unknown, above: readonly object[]): string | undefined {
  if (typeof value === "function") return `a function${value.name === "" ? "" : ` (${value.name})`}`;
  if (typeof value === "bigint") return `the bigint ${value}n`;
  if (typeof value === "symbol") return "a symbol";
  if (typeof value !== "object" || value === null) return undefined;
  if (above.includes(value)) return "part of itself (a cycle)";
  if (above.length >= DEEPEST) return `nested more than ${DEEPEST} levels deep`;
  if (Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined; // a plain object, also if another JavaScript realm made it
  return `an object of class ${(prototype as { constructor?: { name?: string } }).constructor?.name || "?"}`;
}
