import { float, type PythonValue } from "../../python/value.ts";
import { type Language, type ParameterType, Unjudgeable } from "./entry.ts";
import { fromJava, JAVA_TYPES } from "./java.ts";
import { fromJavaScript, JAVASCRIPT_TYPES } from "./javascript.ts";
import { type Comparison, checkDict, checkDicts, checkList, checkText, isEmptyText } from "./value-check.ts";

type TypeName = PythonValue["type"];
type Values = readonly PythonValue[];

const PYTHON_TYPES: ReadonlyMap<string, TypeName> = new Map([
  ["string", "str"],
  ["integer", "int"],
  ["float", "float"],
  ["boolean", "bool"],
  ["array", "list"],
  ["tuple", "list"],
  ["dict", "dict"],
  ["any", "str"],
]);

const TYPES: Readonly<Record<Language, ReadonlyMap<string, TypeName>>> = {
  python: PYTHON_TYPES,
  java: JAVA_TYPES,
  javascript: JAVASCRIPT_TYPES,
};
/** For each language, the types whose elements are checked too. */
const NESTING: Readonly<Record<Language, readonly string[]>> = {
  python: ["array", "tuple"],
  java: ["Array", "ArrayList"],
  javascript: ["array"],
};

/** The value of one parameter, its expected type, and its allowed values. */
export interface Argument {
  readonly value: PythonValue;
  readonly type: ParameterType;
  readonly allowed: Values;
  readonly language: Language;
  readonly by: Comparison;
}

/**
 * Undefined if the value has the parameter's type and is allowed; else the reference's name of the error. Values of
 * Java and JavaScript functions are source text. Allowed values of another type than the schema's are variable names,
 * compared unchanged. Throws Unjudgeable for types without a rule in the reference.
 * Source: BFCL v4, ast_checker.
 */
export function checkArgument(argument: Argument): string | undefined {
  const { type, allowed, language, by } = argument;
  const due = typeNamed(type.type, language);
  const isNesting = NESTING[language].includes(type.type!);
  const nested = isNesting ? typeNamed(type.items, language) : undefined;
  if (language !== "python" && argument.value.type !== "str")
    return language === "java" ? "type_error:java" : "type_error:js";
  const value = converted(argument, isNesting);
  const checked = checkType(value, by.valuesOf(allowed), due, nested);
  if (typeof checked === "string") return checked;
  if (!checked.isVariable) {
    if (due === "dict" && value.type === "dict") return checkDict(value, allowed, by, type.floats);
    if (due === "list" && value.type === "list" && nested === "dict")
      return checkDicts(value.items, allowed, by, type.floats);
    if (due === "list" && value.type === "list")
      return checkList(value.items, allowed, by, nested === "float");
    if (due === "str") return checkText(value, allowed, by);
  }
  return by.valuesOf(allowed).some((other) => by.equal(value, other, due === "float"))
    ? undefined
    : "value_error:others";
}

function typeNamed(name: string | undefined, language: Language): TypeName {
  const type = name === undefined ? undefined : TYPES[language].get(name);
  if (type === undefined) throw new Unjudgeable(`no ${language} type ${name ?? "given"}`);
  return type;
}

/** Converts source text to a value, and, if the schema requires it, a tuple to a list and an int to a float. */
function converted({ value, type, language }: Argument, isNesting: boolean): PythonValue {
  if (language === "java" && value.type === "str")
    return fromJava(value.value, type.type!, isNesting ? type.items : undefined);
  if (language === "javascript" && value.type === "str")
    return fromJavaScript(value.value, type.type!, isNesting ? type.items : undefined);
  if (type.type === "tuple" && value.type === "tuple") return { type: "list", items: value.items };
  if (type.type === "float" && value.type === "int") {
    const near = Number(value.value);
    if (!Number.isFinite(near)) throw new Unjudgeable("an int too large for a float");
    return float(near);
  }
  return value;
}

/** The type of the first allowed value other than "", which marks an optional parameter. */
const typeOfAllowed = (allowed: Values): TypeName | undefined =>
  allowed.find((value) => !isEmptyText(value))?.type;

function checkType(
  value: PythonValue,
  allowed: Values,
  due: TypeName,
  nested: TypeName | undefined,
): { readonly isVariable: boolean } | string {
  const usual = typeOfAllowed(allowed);
  const isVariable = usual !== undefined && usual !== due;
  let fault = "type_error:simple";
  if (value.type === due) {
    if (nested === undefined || allowed.some((other) => elementsFit(value, other, nested)))
      return { isVariable };
    fault = "type_error:nested";
    if (usual === value.type) return fault;
  }
  return usual === value.type ? { isVariable: true } : "type_error:simple";
}

/** If an allowed value is not a list, any elements pass. */
function elementsFit(value: PythonValue, allowed: PythonValue, nested: TypeName): boolean {
  if (allowed.type !== "list" || value.type !== "list") return true;
  const usual = typeOfAllowed(allowed.items);
  return value.items.every(({ type }) => type === nested || type === usual);
}
