import { HoneError } from "../../errors.ts";
import { readJson } from "../../python/json.ts";
import type { PythonValue } from "../../python/value.ts";

export type Language = "python" | "java" | "javascript";

/**
 * The type of a parameter as its schema names it. `items` is the type of an array's elements. `floats` has
 * those keys of an object, or of an array's objects, whose values are floats.
 */
export interface ParameterType {
  readonly type: string | undefined;
  readonly items: string | undefined;
  readonly floats?: ReadonlySet<string>;
}

export interface FunctionSchema {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, ParameterType>;
  /** Undefined if the schema lists no required parameters. */
  readonly required: readonly string[] | undefined;
}

/** An expected call: the allowed values of each parameter; "" among them makes it optional. */
export interface ExpectedCall {
  readonly name: string;
  readonly allowed: ReadonlyMap<string, readonly PythonValue[]>;
}

/** A row of a category file, with the requirements for a completion. */
export interface Entry {
  readonly category: string;
  readonly language: Language;
  readonly functions: readonly FunctionSchema[];
  /** Undefined for categories that only check whether there is a call. */
  readonly expected: readonly ExpectedCall[] | undefined;
}

/**
 * Thrown where the reference implementation raises an exception: for a value without a rule, a schema without
 * types.
 */
export class Unjudgeable extends Error {}

type Dict = ReadonlyMap<string, PythonValue>;

/**
 * Reads a row { id, category?, function, ground_truth? }, as JSON text (which keeps `1` and `1.0` apart, as the type
 * check needs) or as a parsed object. Without `category` the id's beginning gives it ("live_simple_0-0-0"). Throws
 * HONE_ERR_DATA naming the row and its fault.
 * Source: BFCL v4, BFCL_v4_<category>.json and possible_answer/.
 */
export function readEntry(row: unknown): Entry {
  const value = readJson(typeof row === "string" ? row : (JSON.stringify(row) ?? ""));
  if (value?.type !== "dict") throw fault("?", "is not a JSON object", row);
  const fields = asDict(value)!;
  const id = textOf(fields.get("id")) ?? "?";
  const category = textOf(fields.get("category")) ?? categoryOf(id);
  if (category === undefined) throw fault(id, "has no category", row);
  const functions = listOf(fields.get("function"))?.map(readSchema);
  if (functions === undefined || functions.includes(undefined))
    throw fault(id, "needs `function`, a list of { name, parameters }", row);
  const expected = category.includes("relevance") ? undefined : readExpected(fields.get("ground_truth"));
  if (!category.includes("relevance") && !expected?.length)
    throw fault(id, "needs `ground_truth`, a list of { name: { parameter: [values] } }", row);
  const language = /java$/.test(category) ? "java" : /javascript$/.test(category) ? "javascript" : "python";
  return { category, language, functions: functions as FunctionSchema[], expected };
}

function fault(id: string, what: string, row: unknown): HoneError {
  return new HoneError("HONE_ERR_DATA", `function-calling: entry ${id} ${what}`, {
    details: { entry: typeof row === "string" ? row.slice(0, 200) : row },
  });
}

/** The category in an id: "live_multiple_2-1-0" belongs to live_multiple. */
export const categoryOf = (id: string): string | undefined => /^([a-z][a-z_]*)_\d[\d-]*$/.exec(id)?.[1];

/** A dict's values by key; JSON has only string keys. */
const asDict = (value: PythonValue | undefined): Dict | undefined =>
  value?.type === "dict"
    ? new Map(value.entries.map(([key, item]) => [key.type === "str" ? key.value : "", item]))
    : undefined;

const textOf = (value: PythonValue | undefined): string | undefined =>
  value?.type === "str" ? value.value : undefined;

const listOf = (value: PythonValue | undefined): readonly PythonValue[] | undefined =>
  value?.type === "list" ? value.items : undefined;

function readSchema(value: PythonValue): FunctionSchema | undefined {
  const fields = asDict(value);
  const name = textOf(fields?.get("name"));
  const parameters = asDict(fields?.get("parameters"));
  if (name === undefined || parameters === undefined) return undefined;
  const properties = asDict(parameters.get("properties")) ?? new Map<string, PythonValue>();
  const required = listOf(parameters.get("required"))?.flatMap((item) => textOf(item) ?? []);
  return { name, parameters: new Map([...properties].map(([key, item]) => [key, readType(item)])), required };
}

function readType(value: PythonValue): ParameterType {
  const fields = asDict(value);
  const items = asDict(fields?.get("items"));
  const properties = asDict(fields?.get("properties")) ?? asDict(items?.get("properties"));
  const floats = [...(properties ?? [])].filter(([, item]) => textOf(asDict(item)?.get("type")) === "float");
  return {
    type: textOf(fields?.get("type")),
    items: textOf(items?.get("type")),
    ...(floats.length > 0 && { floats: new Set(floats.map(([key]) => key)) }),
  };
}

function readExpected(value: PythonValue | undefined): ExpectedCall[] | undefined {
  const calls = listOf(value)?.map((item) => {
    const [first] = [...(asDict(item) ?? [])];
    const given = first && asDict(first[1]);
    if (first === undefined || given === undefined) return undefined;
    const allowed = [...given].map(([parameter, values]) => [parameter, listOf(values)] as const);
    if (allowed.some(([, values]) => values === undefined)) return undefined;
    return { name: first[0], allowed: new Map(allowed) as ExpectedCall["allowed"] };
  });
  return calls?.includes(undefined) ? undefined : (calls as ExpectedCall[] | undefined);
}
