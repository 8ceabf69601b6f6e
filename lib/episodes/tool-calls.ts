import type { ToolCall } from "../domains/index.ts";
import type { ToolCallStyle } from "../text/index.ts";

export interface CallsRead {
  readonly calls: readonly ToolCall[];
  /** Why something that looks like a call is none. */
  readonly malformed?: string;
}

/** Longer calls are not read. */
const MOST_CHARS = 200_000;
const NONE: CallsRead = { calls: [] };

/**
 * The calls in what a policy said after its thought, in the style of its chat template; all of them or, where one cannot
 * be read, none and the reason. A text without the style's marks has no calls.
 */
export function readCalls(answer: string, style: ToolCallStyle): CallsRead {
  if (answer.length > MOST_CHARS) return { calls: [], malformed: `longer than ${MOST_CHARS} characters` };
  switch (style) {
    case "plain":
      return readPlain(answer);
    case "mistral": {
      const at = answer.lastIndexOf("[TOOL_CALLS]");
      return at < 0 ? NONE : readAll([answer.slice(at + "[TOOL_CALLS]".length)]);
    }
    case "llama": {
      const text = answer.replace(/^<\|python_tag\|>/, "").trim();
      return text.startsWith("{") ? readAll([text]) : NONE;
    }
    case "hermes":
      return readAll(taggedBlocks(answer));
  }
}

/**
 * A call as a policy would write it in a style; in "plain", which has no names of arguments, it may have one.
 * Throws Error for a call that would not be read as one.
 */
export function writeCall(call: ToolCall, style: ToolCallStyle): string {
  const text = callText(call, style);
  if (readCalls(text, style).calls.length === 0) throw new Error(`no call in the ${style} style: ${text}`);
  return text;
}

function callText({ name, arguments: given }: ToolCall, style: ToolCallStyle): string {
  switch (style) {
    case "plain":
      return `${name}(${Object.values(given).join()})`;
    case "mistral":
      return `[TOOL_CALLS]${JSON.stringify([{ name, arguments: given }])}`;
    case "llama":
      return JSON.stringify({ name, parameters: given });
    case "hermes":
      return `${OPEN}\n${JSON.stringify({ name, arguments: given })}\n${CLOSE}`;
  }
}

/** `name(text)` and nothing else: the text is the argument "input". */
function readPlain(answer: string): CallsRead {
  const call = /^(\w+)\(([^()]*)\)$/.exec(answer.trim());
  if (call !== null) return { calls: [{ name: call[1]!, arguments: { input: call[2]! } }] };
  return /^\w+\(/.test(answer.trim()) ? { calls: [], malformed: "a call that does not close" } : NONE;
}

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";

/** What stands between tags; what follows a tag that is not closed is a block too. */
function taggedBlocks(answer: string): string[] {
  const [, ...blocks] = answer.split(OPEN);
  return blocks.map((block) => block.split(CLOSE, 1)[0]!);
}

/** Each text is a call or a list of calls in JSON. */
function readAll(texts: readonly string[]): CallsRead {
  const calls: ToolCall[] = [];
  for (const text of texts) {
    const value = parsed(text);
    if (value === undefined) return { calls: [], malformed: "not JSON" };
    for (const item of Array.isArray(value) ? value : [value]) {
      const call = callOf(item);
      if (typeof call === "string") return { calls: [], malformed: call };
      calls.push(call);
    }
  }
  return { calls };
}

function callOf(item: unknown): ToolCall | string {
  if (!isObject(item)) return "a call that is no object";
  const { name } = item;
  const given = item["arguments"] ?? item["parameters"] ?? {};
  const read = typeof given === "string" ? parsed(given) : given;
  if (typeof name !== "string" || name === "") return "a call without a name";
  if (!isObject(read)) return "arguments that are no object";
  return { name, arguments: read };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
