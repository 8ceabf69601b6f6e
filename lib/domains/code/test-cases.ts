import { HoneError } from "../../errors.ts";
import { readJson } from "../../python/json.ts";
import type { PythonValue } from "../../python/value.ts";

/** One test: the program's input, and its expected output, which never enters the sandbox. */
export type CodeTest =
  | { readonly kind: "script"; readonly stdin: string; readonly expected: string }
  | { readonly kind: "call"; readonly args: readonly PythonValue[]; readonly expected: PythonValue };

/** Rules of reading in which strict and reference judging differ. */
export interface TestReading {
  /** The text that a program reads or prints, from the value in the row. */
  textOf(value: PythonValue): string;
  /** True if the result of a call that is JSON text is parsed. */
  resultIsJson(argumentsAreJson: boolean): boolean;
}

export interface CodeTests {
  /** Name of the function; undefined for a program that reads standard input. */
  readonly functionName: string | undefined;
  readonly tests: readonly CodeTest[];
}

/**
 * The tests of an `input_output` as TACO and APPS have it, best as the JSON text of the row, which keeps 1.0 and large
 * integers; with `fn_name`, there or beside it, a test calls that function.
 * Throws HONE_ERR_DATA naming what is wrong.
 * Source: data set cards of BAAI/TACO and codeparrot/apps; PipelineRL for how arguments and results are wrapped.
 */
export function readTests(
  input_output: string | Readonly<Record<string, unknown>>,
  fn_name: string | null | undefined,
  reading: TestReading,
): CodeTests {
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
      `input_output has ${inputs.length} inputs and ${outputs.length} outputs; their numbers must be equal and at least 1`,
    );
  }
  const test = functionName === undefined ? scriptTest : callTest;
  return { functionName, tests: inputs.map((input, i) => test(input, outputs[i]!, reading)) };
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

function scriptTest(input: PythonValue, output: PythonValue, reading: TestReading): CodeTest {
  return { kind: "script", stdin: reading.textOf(input), expected: reading.textOf(output) };
}

/**
 * Arguments: a list is used directly; a text holds one JSON value per line, or is the single argument. A result may
 * be wrapped in a list.
 */
function callTest(input: PythonValue, output: PythonValue, reading: TestReading): CodeTest {
  const inner = output.type === "list" && output.items.length === 1 ? output.items[0]! : output;
  const inText = input.type === "str" ? jsonLines(input.value) : undefined;
  const args = input.type === "list" ? input.items : (inText ?? [input]);
  const isText = reading.resultIsJson(inText !== undefined);
  return { kind: "call", args, expected: (isText ? jsonIn(inner) : undefined) ?? inner };
}

function jsonLines(text: string): Items | undefined {
  const values = text.split("\n").map((line) => readJson(line));
  return values.includes(undefined) ? undefined : (values as PythonValue[]);
}

/** The JSON value of a text; undefined if `value` is not a text or the text is not JSON. */
function jsonIn(value: PythonValue): PythonValue | undefined {
  return value.type === "str" ? readJson(value.value) : undefined;
}
