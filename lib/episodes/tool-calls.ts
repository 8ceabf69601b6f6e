import type { ToolCall } from "../domains/index.ts";
import { plainArguments, readMarkedCalls } from "../domains/tool-call-reader.ts";
import { toolCallForm } from "../shared/models/tool-call-forms.ts";
import type { ToolCallStyle } from "../text/index.ts";

export interface CallsRead {
  readonly calls: readonly ToolCall[];
  /** Reason why something that looks like a call is not one. */
  readonly malformed?: string;
}

/** Longer calls are not read. */
const MOST_CHARS = 200_000;
const NONE: CallsRead = { calls: [] };

/**
 * The calls in the policy's text after its thought, in the style of its chat template; all of them or, if one cannot
 * be read, none and the reason. A text without the style's marks has no calls. The end of the text also ends a call,
 * and arguments may be omitted.
 * @param tools functions in JSON Schema: an argument of type string takes the text between tags unparsed
 */
export function readCalls(answer: string, style: ToolCallStyle, tools: readonly unknown[] = []): CallsRead {
  if (answer.length > MOST_CHARS) return { calls: [], malformed: `longer than ${MOST_CHARS} characters` };
  if (style === "plain") return readPlain(answer);
  const form = toolCallForm(style);
  const reading = {
    isText: (name: string, argument: string) => isString(tools, name, argument),
    forgiving: true,
  };
  const read = readMarkedCalls(answer, reading, [form]);
  if (read.kind === "none")
    return form.whole?.test(answer.trim()) ? { calls: [], malformed: "not JSON, or no calls" } : NONE;
  if (read.kind === "malformed") return { calls: [], malformed: read.reason };
  if (read.calls.some(({ name }) => name === undefined || name === ""))
    return { calls: [], malformed: "a call without a name" };
  return {
    calls: read.calls.map(({ name, arguments: given }) => ({
      name: name!,
      arguments: plainArguments(given),
    })),
  };
}

/** True if a function's argument is a string, in the schema itself or under `function`. */
function isString(tools: readonly unknown[], name: string, argument: string): boolean {
  return tools.some((tool) => {
    const schema = fieldOf(tool, "function") ?? tool;
    const property = fieldOf(fieldOf(fieldOf(schema, "parameters"), "properties"), argument);
    return fieldOf(schema, "name") === name && fieldOf(property, "type") === "string";
  });
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, field)
    ? (value as Readonly<Record<string, unknown>>)[field]
    : undefined;

/**
 * A call as a policy would write it in a style; in "plain", which has no argument names, a single argument. Throws
 * Error for a call that could not be read back.
 */
export function writeCall({ name, arguments: given }: ToolCall, style: ToolCallStyle): string {
  const text =
    style === "plain" ? `${name}(${Object.values(given).join()})` : toolCallForm(style).write(name, given);
  if (readCalls(text, style).calls.length === 0) throw new Error(`no call in the ${style} style: ${text}`);
  return text;
}

/** Reads a text that is exactly `name(text)`: the text is the argument "input". */
function readPlain(answer: string): CallsRead {
  const call = /^(\w+)\(([^()]*)\)$/.exec(answer.trim());
  if (call !== null) return { calls: [{ name: call[1]!, arguments: { input: call[2]! } }] };
  return /^\w+\(/.test(answer.trim()) ? { calls: [], malformed: "a call that does not close" } : NONE;
}
