import { elementsOf, membersOf } from "../../../shared/text/json-text.ts";

/** A parameter as xLAM describes it, in BFCL's types. */
export interface Parameter {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isOptional: boolean;
  /** The parameter's default value as JSON text; undefined if it has no default. */
  readonly default: string | undefined;
  /** A value as BFCL lists it among the allowed ones: in a dict, every member is a list of values. Both are JSON text. */
  allowed(value: string): string;
}

/** BFCL's names for the types of Python and JSON Schema. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ...["str", "string"].map((name) => [name, "string"] as const),
  ...["int", "integer"].map((name) => [name, "integer"] as const),
  ...["float", "number"].map((name) => [name, "float"] as const),
  ...["bool", "boolean"].map((name) => [name, "boolean"] as const),
  ...["list", "array", "set", "tuple"].map((name) => [name, "array"] as const),
  ...["dict", "object"].map((name) => [name, "dict"] as const),
]);

/**
 * Reads { type, description?, default?, items? }: the type is a text such as "int, optional" or "List[str]".
 * Any other type (`Union[int, str]`, `Any`) is inferred from `sample`, a value that the row gives, as JSON
 * text.
 */
export function parameterOf(one: Readonly<Record<string, unknown>>, sample?: string): Parameter {
  const { type: text, default: fallback, items: inner, ...rest } = one;
  const words = String(text ?? "");
  const [, outer = "", element] = /^(?:Optional\[)?\s*([A-Za-z]*)(?:\[\s*([A-Za-z]+))?/i.exec(words)!;
  const type = named(outer) ?? typeOf(sample) ?? "any";
  const items = named(element) ?? named(typeNameIn(inner)) ?? typeOf(elementIn(sample)) ?? "string";
  const value = fallback === undefined ? undefined : JSON.stringify(fallback);
  return {
    schema: {
      ...rest,
      type,
      ...(type === "array" && { items: { type: items } }),
      ...(value !== undefined && { default: fallback }),
    },
    isOptional: value !== undefined || /\boptional\b/i.test(words),
    default: value,
    allowed: (json) => (type === "dict" ? listed(json) : type === "array" ? listedIn(json, items) : json),
  };
}

const named = (name: string | undefined): string | undefined => TYPES.get((name ?? "").toLowerCase());

const typeNameIn = (schema: unknown): string | undefined =>
  typeof schema === "object" && schema !== null && "type" in schema ? String(schema.type) : undefined;

function typeOf(json: string | undefined): string | undefined {
  if (json === undefined || json === "null") return undefined;
  const types: Readonly<Record<string, string>> = {
    '"': "string",
    "[": "array",
    "{": "dict",
    t: "boolean",
    f: "boolean",
  };
  return types[json[0]!] ?? (/[.eE]/.test(json) ? "float" : "integer");
}

const elementIn = (json: string | undefined): string | undefined =>
  json?.startsWith("[") ? elementsOf(json)[0] : undefined;

function listed(json: string): string {
  if (!json.startsWith("{")) return json;
  return `{${[...membersOf(json)].map(([key, value]) => `${JSON.stringify(key)}:[${value}]`).join(",")}}`;
}

const listedIn = (json: string, items: string): string =>
  items === "dict" && json.startsWith("[") ? `[${elementsOf(json).map(listed).join(",")}]` : json;
