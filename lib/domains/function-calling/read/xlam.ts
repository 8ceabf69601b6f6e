import { z } from "zod";
import { jsonAt } from "../../../data/raw-row.ts";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowDraft,
  type RowOutcome,
  type RowReader,
  readFields,
  readJson,
} from "../../../data/row-reader.ts";
import { HoneError } from "../../../errors.ts";
import { elementsOf, membersOf } from "../../../shared/text/json-text.ts";
import { asTemplatesTakeThem, describeTools, toolsOf } from "./bfcl-prompt.ts";
import { type Parameter, parameterOf } from "./xlam-types.ts";

const jsonText = z.union([z.string(), z.array(z.unknown())]);
const rowSchema = z.object({ query: z.string().trim().min(1), tools: jsonText, answers: jsonText });
const parametersSchema = z.record(z.string(), z.looseObject({ type: z.unknown().optional() }));
const toolsSchema = z.array(
  z.object({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: parametersSchema.nullish(),
  }),
);

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: ReadonlyMap<string, Parameter>;
}

interface Call {
  readonly name: string;
  /** Arguments by name; the values are JSON text. */
  readonly given: ReadonlyMap<string, string>;
}

/**
 * xLAM's function calls: a request, the available functions, and the expected calls, in any order. Parameters have
 * Python types. The calls must be those of the row, except that an argument with its default value may be given or
 * omitted freely. Rows without a call require no call.
 * Source: data set card Salesforce/xlam-function-calling-60k.
 */
export const xlam: RowReader<DatasetOptions> = {
  domain: "function-calling",
  verifier: "function-calling",
  options: {},
  columns: Object.keys(rowSchema.shape),
  open({ template }) {
    return (raw) => {
      const row = readFields(rowSchema, raw.value);
      if (isBad(row)) return row;
      const tools = readJson(toolsSchema, jsonAt(raw, ["tools"]) ?? "", "tools");
      if (isBad(tools)) return tools;
      const calls = callsIn(jsonAt(raw, ["answers"]) ?? "");
      if (isBad(calls)) return calls;
      const known = tools.map((tool) => toolOf(tool, calls));
      return draftOf(row.query, known, calls, template);
    };
  },
};

function toolOf({ name, ...tool }: z.infer<typeof toolsSchema>[number], calls: readonly Call[]): Tool {
  const made = calls.filter((call) => call.name === name);
  const parameters = Object.entries(tool.parameters ?? {}).map(([key, one]) => {
    const sample = made.flatMap(({ given }) => given.get(key) ?? [])[0];
    return [key, parameterOf(one, sample)] as const;
  });
  return { name, description: tool.description ?? "", parameters: new Map(parameters) };
}

function callsIn(json: string): readonly Call[] | { readonly bad: string } {
  try {
    return elementsOf(json).map((call) => {
      const members = membersOf(call);
      const name = z
        .string()
        .min(1)
        .parse(JSON.parse(members.get("name") ?? "null"));
      return { name, given: membersOf(members.get("arguments") ?? "{}") };
    });
  } catch (error) {
    if (!HoneError.is(error) && !(error instanceof SyntaxError) && !(error instanceof z.ZodError))
      throw error;
    return { bad: "answers: not a JSON list of { name, arguments }" };
  }
}

function draftOf(
  query: string,
  tools: readonly Tool[],
  calls: readonly Call[],
  template: string | undefined,
): RowOutcome {
  if (calls.some(({ name }) => !tools.some((tool) => tool.name === name)))
    return { bad: "answers: a call of none of the tools" };
  const functions = tools.map(schemaOf);
  const shown = toolsOf(functions);
  const messages = [{ role: "user", content: query }];
  const structured = template === undefined && shown.length > 0;
  return {
    content: JSON.stringify([query, tools.map(({ name, parameters }) => [name, ...parameters.keys()])]),
    question: fill(template ?? "{task}", shown.length > 0 ? `${describeTools(shown)}\n\n${query}` : query),
    ...(structured && { messages, tools: asTemplatesTakeThem(shown) }),
    family: "xlam",
    level: Math.max(0, calls.length - 1),
    reference: { entry: entryOf(functions, tools, calls), dialect: "tool_calls" },
    gold: () => [calls.length === 0 ? "No call." : written(calls)],
  } satisfies RowDraft;
}

function schemaOf({ name, description, parameters }: Tool) {
  const all = [...parameters];
  return {
    name,
    description,
    parameters: {
      type: "dict",
      properties: Object.fromEntries(all.map(([key, { schema }]) => [key, schema])),
      required: all.filter(([, { isOptional }]) => !isOptional).map(([key]) => key),
    },
  };
}

/** A row as BFCL has it, as JSON text: the verifier tells 1 from 1.0. */
function entryOf(functions: readonly object[], tools: readonly Tool[], calls: readonly Call[]): string {
  const category = ["irrelevance", "multiple"][calls.length] ?? "parallel_multiple";
  const head = `{"id":"xlam","category":"${category}","function":${JSON.stringify(functions)}`;
  if (calls.length === 0) return `${head}}`;
  const truth = calls.map(({ name, given }) => {
    const { parameters } = tools.find((tool) => tool.name === name)!;
    return `{${JSON.stringify(name)}:{${allowedOf(parameters, given).join(",")}}}`;
  });
  return `${head},"ground_truth":[${truth.join(",")}]}`;
}

/** The allowed values of each parameter of a call; `""` among them makes it optional. */
function allowedOf(parameters: Tool["parameters"], given: Call["given"]): string[] {
  const due = [...given].map(([key, value]) => {
    const parameter = parameters.get(key);
    const values = [parameter?.allowed(value) ?? value, ...(parameter?.default === value ? ['""'] : [])];
    return `${JSON.stringify(key)}:[${values.join(",")}]`;
  });
  const others = [...parameters].filter(([key, one]) => !given.has(key) && one.default !== undefined);
  return [...due, ...others.map(([key, one]) => `${JSON.stringify(key)}:[${one.allowed(one.default!)},""]`)];
}

function written(calls: readonly Call[]): string {
  const texts = calls.map(({ name, given }) => {
    const members = [...given].map(([key, value]) => `${JSON.stringify(key)}:${value}`);
    return `{"name":${JSON.stringify(name.replaceAll(".", "_"))},"arguments":{${members.join(",")}}}`;
  });
  return `<tool_calls>[${texts.join(",")}]</tool_calls>`;
}
