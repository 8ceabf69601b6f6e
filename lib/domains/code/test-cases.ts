import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { readJson } from "../../python/json.ts";
import type { PythonValue } from "../../python/value.ts";
import { checkedReference } from "../checked.ts";
import type { Compat } from "../verify-case.ts";

/** Wall time for one test, all tests and memory of one test where a problem says nothing else. */
const WALL_MS = 10_000;
export const MAX_TOTAL_MS = 60_000;
const MEMORY_MB = 1024;

const limitsSchema = z.object({
  /** Only the first so many tests count. */
  tests: z.int().positive().optional(),
  wallMs: z.int().min(100).max(MAX_TOTAL_MS).optional(),
  totalMs: z.int().min(100).max(MAX_TOTAL_MS).optional(),
  memoryMb: z.int().min(64).max(65_536).optional(),
});

const referenceSchema = z.object({
  input_output: z.union([z.string(), z.record(z.string(), z.unknown())]),
  fn_name: z.string().nullish(),
  compat: z.enum(["reference", "strict"]).optional(),
  limits: limitsSchema.optional(),
});

/** One test: what goes into the program, and what must come out, which never goes there. */
export type CodeTest =
  | { readonly kind: "script"; readonly stdin: string; readonly expected: string }
  | { readonly kind: "call"; readonly args: readonly PythonValue[]; readonly expected: PythonValue };

export interface CodeReference {
  readonly compat: Compat;
  readonly functionName: string | undefined;
  readonly tests: readonly CodeTest[];
  readonly wallMs: number;
  readonly totalMs: number;
  readonly memoryBytes: number;
}

/**
 * Reads { input_output, fn_name?, compat?, limits? }: `input_output` as TACO and APPS have it, best as the JSON text
 * of the row, which keeps 1.0 and large integers; with `fn_name`, there or beside it, a test calls that function.
 * Throws HONE_ERR_DATA naming what is wrong.
 * Source: data set cards of BAAI/TACO and codeparrot/apps; PipelineRL for how arguments and results are wrapped.
 */
export function parseCodeReference(raw: unknown): CodeReference {
  const shape = "{ input_output, fn_name?, compat?, limits? }";
  const fields = checkedReference(referenceSchema, raw, "code", shape);
  const { input_output, fn_name, compat = "strict", limits = {} } = fields;
  const read = readJson(typeof input_output === "string" ? input_output : JSON.stringify(input_output));
  if (read === undefined) throw bad("input_output is no JSON, or has integers of over 4,300 digits");
  const members = membersOf(read);
  const functionName = fn_name ?? textOf(members.get("fn_name"));
  const [inputs, outputs] = ["inputs", "outputs"].map((key) => itemsOf(members.get(key), key)) as [
    Items,
    Items,
  ];
  if (inputs.length !== outputs.length || inputs.length === 0) {
    throw bad(
      `input_output has ${inputs.length} inputs and ${outputs.length} outputs; as many, and one at least, are needed`,
    );
  }
  const test = functionName === undefined ? scriptTest : callTest;
  return {
    compat,
    functionName,
    tests: inputs.slice(0, limits.tests).map((input, i) => test(input, outputs[i]!, compat)),
    wallMs: limits.wallMs ?? WALL_MS,
    totalMs: limits.totalMs ?? MAX_TOTAL_MS,
    memoryBytes: (limits.memoryMb ?? MEMORY_MB) * 2 ** 20,
  };
}

type Items = readonly PythonValue[];

const bad = (why: string): HoneError => new HoneError("HONE_ERR_DATA", `code: ${why}`);

function membersOf(value: PythonValue): ReadonlyMap<string, PythonValue> {
  if (value.type !== "dict") throw bad(`input_output is a ${value.type}, not an object`);
  return new Map(value.entries.map(([key, item]) => [textOf(key)!, item]));
}

function itemsOf(value: PythonValue | undefined, key: string): Items {
  if (value?.type === "list") return value.items;
  throw bad(`input_output.${key} is ${value === undefined ? "missing" : `a ${value.type}`}, not a list`);
}

const textOf = (value: PythonValue | undefined): string | undefined =>
  value?.type === "str" && value.value !== "" ? value.value : undefined;

/** Lists of lines are joined; the reference writes them as Python would print the list, which no program expects. */
function scriptTest(input: PythonValue, output: PythonValue, compat: Compat): CodeTest {
  const text = (value: PythonValue) =>
    compat === "strict" && value.type === "list" ? joined(value.items) : shown(value);
  return { kind: "script", stdin: text(input), expected: text(output) };
}

const joined = (items: Items): string => items.map(shown).join("\n");

/** `str(value)`, near enough for lists of lines. */
function shown(value: PythonValue): string {
  if (value.type === "str") return value.value;
  if (value.type === "list") {
    const quoted = value.items.map((item) =>
      item.type === "str" ? `'${item.value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}'` : shown(item),
    );
    return `[${quoted.join(", ")}]`;
  }
  if (value.type === "NoneType") return "None";
  if (value.type === "bool") return value.value ? "True" : "False";
  if (value.type === "float" && Number.isInteger(value.value)) return value.value.toFixed(1);
  return "value" in value ? String(value.value) : value.type;
}

/**
 * Arguments: a list as it is; a text holds a JSON value a line, or is the argument. A result may stand in a list of its
 * own. Strict takes a result's text for JSON only where the arguments were such a text too, as LiveCodeBench has them:
 * in a row of values "100" is a text. The reference takes any text that parses for JSON.
 */
function callTest(input: PythonValue, output: PythonValue, compat: Compat): CodeTest {
  const inner = output.type === "list" && output.items.length === 1 ? output.items[0]! : output;
  const inText = input.type === "str" ? jsonLines(input.value) : undefined;
  const args = input.type === "list" ? input.items : (inText ?? [input]);
  const isText = compat === "reference" || inText !== undefined;
  return { kind: "call", args, expected: (isText ? jsonIn(inner) : undefined) ?? inner };
}

function jsonLines(text: string): Items | undefined {
  const values = text.split("\n").map((line) => readJson(line));
  return values.includes(undefined) ? undefined : (values as PythonValue[]);
}

/** What a text says as JSON; undefined where it is none, or no text. */
function jsonIn(value: PythonValue): PythonValue | undefined {
  return value.type === "str" ? readJson(value.value) : undefined;
}
