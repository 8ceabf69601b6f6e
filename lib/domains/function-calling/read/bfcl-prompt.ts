/** Languages whose values are written as source text in strings. */
export type Language = "python" | "java" | "javascript";

export const LANGUAGES: Readonly<Record<string, Language>> = {
  simple_java: "java",
  simple_javascript: "javascript",
};

interface ToolFunction {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters: {
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required?: unknown;
  };
}

const NAMES: Readonly<Record<Language, string>> = {
  python: "Python 3",
  java: "Java 8 SDK",
  javascript: "JavaScript",
};
/** BFCL's type names in JSON Schema; types not listed are the same in both, or strings. */
const TYPES: Readonly<Record<string, string>> = {
  integer: "integer",
  number: "number",
  float: "number",
  boolean: "boolean",
  array: "array",
  list: "array",
  tuple: "array",
  dict: "object",
  object: "object",
};

const REQUEST =
  "You may call these functions. Answer with the calls that are needed, all of them, as a JSON list between <tool_calls> and </tool_calls>:\n" +
  '<tool_calls>[{"name": "function", "arguments": {"parameter": "value"}}]</tool_calls>\n' +
  "Where none of the functions fits, say so and call none.";

/**
 * Tells the policy in words which functions there are (JSON Schema) and how to call them. The wording is our
 * own.
 */
export function describeTools(functions: readonly unknown[]): string {
  const tools = functions.map((one) => JSON.stringify(one));
  return [REQUEST, "<available_tools>", ...tools, "</available_tools>"].join("\n");
}

/** JSON text of the functions in the form that chat templates take. */
export const asTemplatesTakeThem = (tools: readonly unknown[]): string =>
  JSON.stringify(tools.map((one) => ({ type: "function", function: one })));

/**
 * BFCL's functions in JSON Schema: dots in names as underscores, and for Java and JavaScript every argument
 * as a string of source text. @param language named in the descriptions; undefined for functions of no
 * language.
 * Source: BFCL v4's conversion of its functions to tools.
 */
export function toolsOf(functions: readonly ToolFunction[], language?: Language): readonly unknown[] {
  return functions.map(({ name, description = "", parameters: { properties, required = [] } }) => ({
    name: name.replaceAll(".", "_"),
    description: `${description}${language ? ` The function is in ${NAMES[language]} syntax.` : ""}`.trim(),
    parameters: {
      type: "object",
      properties: mapValues(properties, (one) =>
        language === undefined || language === "python" ? jsonSchema(one) : sourceText(one, language),
      ),
      required,
    },
  }));
}

type Schema = Readonly<Record<string, unknown>>;
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function jsonSchema(schema: unknown): unknown {
  if (!isSchema(schema)) return schema;
  const { type, description, properties, items, ...rest } = schema;
  const float = type === "float" ? " A float." : "";
  return {
    type: TYPES[String(type)] ?? "string",
    ...((description !== undefined || float !== "") && {
      description: `${description ?? ""}${float}`.trim(),
    }),
    ...(isSchema(properties) && { properties: mapValues(properties, jsonSchema) }),
    ...(isSchema(items) && { items: jsonSchema(items) }),
    ...rest,
  };
}

function sourceText(schema: unknown, language: Language): unknown {
  if (!isSchema(schema)) return schema;
  const { type, description = "", items } = schema;
  const of = isSchema(items) && items["type"] !== undefined ? ` of ${items["type"]}` : "";
  const note = `A ${NAMES[language]} ${String(type)}${of}, written as source text in a string.`;
  return { type: "string", description: `${String(description)} ${note}`.trim() };
}

function mapValues(record: Schema, map: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
