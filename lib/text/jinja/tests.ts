/** Tests after `is`. Source: jinja2/tests.py of Jinja 3.1. */
import { compares } from "./operators.ts";
import type { CompareOperator } from "./syntax.ts";
import {
  Callable,
  isFloat,
  isInteger,
  isNumber,
  Namespace,
  numeric,
  str,
  TemplateFault,
  Undefined,
  UnknownName,
  type Value,
} from "./values.ts";

type Test = (v: Value, args: readonly Value[]) => boolean;

const comparing =
  (operator: CompareOperator): Test =>
  (v, [other]) =>
    compares(operator, v, other ?? null);

function divisible(v: Value, [by]: readonly Value[]): boolean {
  if (by === undefined || !isNumber(v) || !isNumber(by))
    throw new TemplateFault("divisibleby needs two numbers");
  if (numeric(by) === 0) throw new TemplateFault("integer modulo by zero");
  return numeric(v) % numeric(by) === 0;
}

const parity =
  (rest: number): Test =>
  (v) =>
    isNumber(v) && Math.abs(numeric(v) % 2) === rest;

const isMapping: Test = (v) => v instanceof Map;
const isString: Test = (v) => typeof v === "string";
const isSequence: Test = (v) =>
  typeof v === "string" || Array.isArray(v) || v instanceof Map || v instanceof Undefined;

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["defined", (v) => !(v instanceof Undefined)],
  ["undefined", (v) => v instanceof Undefined],
  ["none", (v) => v === null],
  ["boolean", (v) => typeof v === "boolean"],
  ["true", (v) => v === true],
  ["false", (v) => v === false],
  ["integer", (v) => isInteger(v)],
  ["float", (v) => isFloat(v)],
  ["number", (v) => isNumber(v)],
  ["string", isString],
  ["mapping", isMapping],
  ["sequence", isSequence],
  ["iterable", isSequence],
  ["callable", (v) => v instanceof Callable || v instanceof Namespace],
  ["sameas", (v, [other]) => v === other],
  ["escaped", () => false],
  ["odd", parity(1)],
  ["even", parity(0)],
  ["divisibleby", divisible],
  ["lower", (v) => /\p{L}/u.test(str(v)) && str(v) === str(v).toLowerCase()],
  ["upper", (v) => /\p{L}/u.test(str(v)) && str(v) === str(v).toUpperCase()],
  ["in", comparing("in")],
  ...(
    [
      ["==", "eq", "equalto"],
      ["!=", "ne"],
      ["<", "lt", "lessthan"],
      [">", "gt", "greaterthan"],
      ["<=", "le"],
      [">=", "ge"],
    ] as const
  ).flatMap(([operator, ...names]) =>
    [operator, ...names].map((name) => [name, comparing(operator)] as const),
  ),
]);

/** `v is name(...args)`. Throws UnknownName for an unknown test. */
export function applyTest(name: string, v: Value, args: readonly Value[]): boolean {
  const test = TESTS.get(name);
  if (test === undefined) throw new UnknownName(`no test named '${name}'`);
  return test(v, args);
}
