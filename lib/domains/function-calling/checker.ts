import type { Call } from "../call.ts";
import { type Entry, type ExpectedCall, type FunctionSchema, Unjudgeable } from "./entry.ts";
import { checkArgument } from "./parameter-check.ts";
import { type Comparison, isEmptyText } from "./value-check.ts";

/** How names are compared: an API without dots in names spells "a.b" as "a_b". */
export type Naming = "dotted" | "underscored";

/** Rules of checking in which strict and reference judging differ. */
export interface CheckRules {
  readonly comparison: Comparison;
  /** True if a schema must list its required parameters; otherwise a missing list means none are required. */
  readonly needsRequired: boolean;
  /** True if an argument without a name is a fault; otherwise it is dropped. */
  readonly refusesPositional: boolean;
}

export interface CheckResult {
  /** Name of the error in BFCL's terms; undefined if every call is right. */
  readonly fault: string | undefined;
  /** Share of the expected calls that were made, in [0, 1]; extra calls do not lower it. */
  readonly matched: number;
}

/**
 * Compares the calls with the expected ones: in any order for parallel categories, each expected call taking the
 * first unmatched one that fits. A name must be right, required parameters present, every parameter known, of its
 * type and among the allowed values, and omitted parameters must be optional.
 * Throws Unjudgeable if the reference's check raises an error.
 * Source: BFCL v4, ast_checker; share of matched calls as PipelineRL counts it.
 */
export function check(entry: Entry, calls: readonly Call[], naming: Naming, rules: CheckRules): CheckResult {
  const context: Context = { entry, naming, rules };
  if (entry.category.includes("parallel")) return checkInAnyOrder(context, calls);
  const expected = entry.expected![0]!;
  const isMultiple = entry.category.includes("multiple");
  const kind = isMultiple ? "multiple_function_checker" : "simple_function_checker";
  if (calls.length !== (isMultiple ? entry.expected!.length : 1))
    return { fault: `${kind}:wrong_count`, matched: 0 };
  const schema = isMultiple ? schemaNamed(entry, expected.name) : entry.functions[0];
  const fault = checkCall(context, schema, calls[0]!, expected);
  return { fault, matched: fault === undefined ? 1 : 0 };
}

interface Context {
  readonly entry: Entry;
  readonly naming: Naming;
  readonly rules: CheckRules;
}

const schemaNamed = ({ functions }: Entry, name: string): FunctionSchema | undefined =>
  functions.find((schema) => schema.name === name);

function checkInAnyOrder(context: Context, calls: readonly Call[]): CheckResult {
  const { entry } = context;
  const expected = entry.expected!;
  const used = new Set<number>();
  for (const gold of expected) {
    const schema = schemaNamed(entry, gold.name);
    const match = calls.findIndex(
      (call, index) => !used.has(index) && checkCall(context, schema, call, gold) === undefined,
    );
    if (match >= 0) used.add(match);
  }
  const matched = expected.length > 1 ? used.size / expected.length : 0;
  if (calls.length !== expected.length)
    return { fault: "parallel_function_checker_no_order:wrong_count", matched };
  const fault =
    used.size < expected.length ? "parallel_function_checker_no_order:cannot_find_match" : undefined;
  return { fault, matched: fault === undefined ? 1 : matched };
}

function checkCall(
  { entry, naming, rules }: Context,
  schema: FunctionSchema | undefined,
  call: Call,
  { allowed }: ExpectedCall,
): string | undefined {
  if (schema === undefined) throw new Unjudgeable("the expected function has no schema");
  const name = naming === "underscored" ? schema.name.replaceAll(".", "_") : schema.name;
  if (call.name !== name) return "simple_function_checker:wrong_func_name";
  if (schema.required === undefined && rules.needsRequired)
    throw new Unjudgeable("the schema names no required parameters");
  if (schema.required?.some((parameter) => !call.arguments.has(parameter)))
    return "simple_function_checker:missing_required";
  if (rules.refusesPositional && call.positional > 0) return "simple_function_checker:positional_argument";
  for (const [parameter, value] of call.arguments) {
    const type = schema.parameters.get(parameter);
    const values = allowed.get(parameter);
    if (type === undefined || values === undefined) return "simple_function_checker:unexpected_param";
    const { language } = entry;
    const fault = checkArgument({ value, type, allowed: values, language, by: rules.comparison });
    if (fault !== undefined) return fault;
  }
  for (const [parameter, values] of allowed) {
    if (!call.arguments.has(parameter) && !values.some(isEmptyText))
      return "simple_function_checker:missing_optional";
  }
  return undefined;
}
