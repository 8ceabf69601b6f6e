import { HoneError } from "../../../errors.ts";
import { elementsOf, membersOf } from "../../../shared/text/json-text.ts";

/** A row's tests as TACO has them: the JSON text of { inputs, outputs, fn_name? }. */
export interface Tests {
  readonly inputOutput: string;
  /** Name of the function; undefined for programs that read standard input. */
  readonly fnName: string | undefined;
}

export interface TestOptions {
  /** Name of the field that holds the tests, for messages. */
  readonly field: string;
  /** Keeps the first tests of a problem, up to this number. */
  readonly maxTests?: number | undefined;
  /** Name of the function, if the row gives it beside its tests. */
  readonly fnName?: string | undefined;
}

type Bad = { readonly bad: string };
const NAME = /^[\w.]+$/;

/**
 * The tests in a JSON text, at most `maxTests` of them, every literal as it was: { inputs, outputs, fn_name? }, or a list
 * of { input, output } with the kind of a test in `type` or `testtype` and the function in `fn_name` or
 * `metadata.func_name`. Left out are tests that are assertions.
 */
export function readTests(json: string, options: TestOptions): Tests | Bad | { readonly leftOut: string } {
  const { field } = options;
  try {
    if (json.trimStart().startsWith("[")) return readTestList(elementsOf(json), options);
    const members = membersOf(json);
    if (members.has("assert_case") || members.has("test_code"))
      return { leftOut: `${field}: assertions, which the verifier code does not judge` };
    return readColumns(json, members, options);
  } catch (error) {
    if (!HoneError.is(error) && !(error instanceof SyntaxError)) throw error;
    return { bad: `${field}: not JSON with inputs and outputs` };
  }
}

function readColumns(
  json: string,
  members: ReadonlyMap<string, string>,
  { field, maxTests, fnName: outer }: TestOptions,
): Tests | Bad {
  const [inputs, outputs] = ["inputs", "outputs"].map((key) => elementsOf(members.get(key) ?? ""));
  if (inputs!.length !== outputs!.length) return { bad: `${field}: not as many outputs as inputs` };
  if (inputs!.length === 0) return { bad: `${field}: no tests` };
  const fnName = parsed(members.get("fn_name")) ?? outer;
  if (fnName !== undefined && (typeof fnName !== "string" || !NAME.test(fnName)))
    return { bad: `${field}: fn_name is no name` };
  if (inputs!.length <= (maxTests ?? Number.POSITIVE_INFINITY)) return { inputOutput: json, fnName };
  return joined(inputs!.slice(0, maxTests), outputs!.slice(0, maxTests), fnName);
}

function joined(inputs: readonly string[], outputs: readonly string[], fnName: string | undefined): Tests {
  const fn = fnName === undefined ? "" : `"fn_name": ${JSON.stringify(fnName)}, `;
  const inputOutput = `{${fn}"inputs": [${inputs.join(", ")}], "outputs": [${outputs.join(", ")}]}`;
  return { inputOutput, fnName };
}

interface Test {
  readonly input: string;
  readonly output: string;
  readonly isCall: boolean;
  readonly fnName: string | undefined;
}

function readTestList(list: readonly string[], { field, maxTests, fnName: outer }: TestOptions): Tests | Bad {
  const tests: Test[] = [];
  for (const one of list.slice(0, maxTests)) {
    const test = readTest(membersOf(one), field, outer);
    if ("bad" in test) return test;
    tests.push(test);
  }
  if (tests.length === 0) return { bad: `${field}: no tests` };
  const [{ isCall, fnName }] = tests as [Test];
  if (tests.some((test) => test.isCall !== isCall)) return { bad: `${field}: tests of both kinds` };
  if (tests.some((test) => test.fnName !== fnName)) return { bad: `${field}: tests of several functions` };
  return joined(
    tests.map(({ input }) => input),
    tests.map(({ output }) => output),
    fnName,
  );
}

const PROGRAM: ReadonlySet<unknown> = new Set(["stdin", "stdio", "stdin_stdout"]);
const CALL: ReadonlySet<unknown> = new Set(["functional", "function_call", "call"]);

/** A test without a kind calls a function if it names one. */
function readTest(members: ReadonlyMap<string, string>, field: string, outer?: string): Test | Bad {
  const [input, output] = [members.get("input"), members.get("output")];
  if (input === undefined || output === undefined) return { bad: `${field}.#: neither input nor output` };
  const metadata = members.get("metadata");
  const inner = metadata?.startsWith("{") ? membersOf(metadata).get("func_name") : undefined;
  const named = parsed(members.get("fn_name")) ?? parsed(inner) ?? outer;
  const kind = parsed(members.get("type")) ?? parsed(members.get("testtype"));
  const isCall = kind === undefined ? named !== undefined : CALL.has(kind);
  if (!isCall && kind !== undefined && !PROGRAM.has(kind))
    return { bad: `${field}.#.type: neither stdin_stdout nor function_call` };
  if (!isCall) return { input, output, isCall, fnName: undefined };
  if (typeof named !== "string" || !NAME.test(named)) return { bad: `${field}: a call of no function` };
  return { input, output, isCall, fnName: named };
}

const parsed = (json: string | undefined): unknown =>
  json === undefined || json === "null" || json === '""' ? undefined : (JSON.parse(json) as unknown);
