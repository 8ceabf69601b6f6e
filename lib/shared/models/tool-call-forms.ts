/** How to parse the text between the marks of a form. Patterns match at the current position; `name` and `value` are groups. */
export type CallBody =
  /** JSON: one object per call, with these keys. */
  | {
      readonly kind: "json";
      readonly holds: "object" | "list" | "either";
      readonly keys: readonly [name: string, given: string];
      /** Separator of several objects outside a list. */
      readonly between?: RegExp;
    }
  /** The name, then the arguments as a JSON object; calls in sequence. */
  | { readonly kind: "named"; readonly header: RegExp; readonly footer: string }
  /**
   * The name, then each argument in its own tags. A group `text`, if present, means that a value is a string.
   */
  | { readonly kind: "tagged"; readonly header: RegExp; readonly parameter: RegExp; readonly footer: string }
  /** Calls in Python syntax: a list of them, or one per line. */
  | { readonly kind: "python"; readonly holds: "list" | "lines" };

/** A format of tool calls in the chat templates of some model families. */
export interface ToolCallForm {
  readonly name: string;
  readonly families: string;
  /** Start of a block of calls; forms with the same pattern differ in the block's content. */
  readonly open: RegExp | undefined;
  /** End of a block; undefined if a block extends to the next one or to the end of the text. */
  readonly close?: RegExp;
  /** True if the end of the text may also end a block: the end mark is a token that ends the turn. */
  readonly closeMayLack?: true;
  /** Start of a text that consists of calls without marks. */
  readonly whole?: RegExp;
  readonly body: CallBody;
  /** Formats one call. Throws TypeError for arguments that JSON cannot represent. */
  write(name: string, given: Readonly<Record<string, unknown>>): string;
}

const json = JSON.stringify;
/** Formats a value between tags: a string without quotes, other values as JSON. */
const plain = (value: unknown): string => (typeof value === "string" ? value : json(value));
const eachOf = (
  given: Readonly<Record<string, unknown>>,
  one: (key: string, value: string) => string,
): string =>
  Object.entries(given)
    .map(([key, value]) => one(key, plain(value)))
    .join("\n");
const python = (name: string, given: Readonly<Record<string, unknown>>): string =>
  `${name}(${Object.entries(given)
    .map(([key, value]) => `${key}=${pythonLiteral(value)}`)
    .join(", ")})`;

function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object") return json(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${json(key)}: ${pythonLiteral(item)}`)
    .join(", ")}}`;
}

const NAME = "(?<name>[\\w.$-]+)";
const sticky = (pattern: string): RegExp => new RegExp(pattern, "y");
const ARGUMENTS = ["name", "arguments"] as const;
const PARAMETERS = ["name", "parameters"] as const;
const ACTION = ["tool_name", "parameters"] as const;

const LIST = { open: /<tool_calls>/i, close: /<\/tool_calls>/i };
const CALL = { open: /<tool_call>/i, close: /<\/tool_call>/i };
const MISTRAL = { open: /\[TOOL_CALLS\]/ };
const DEEPSEEK = { open: /<｜tool▁calls▁begin｜>/, close: /<｜tool▁calls▁end｜>/ };
const deepseek = (calls: string): string => `<｜tool▁calls▁begin｜>${calls}<｜tool▁calls▁end｜>`;

const FUNCTION_TAGS: CallBody = {
  kind: "tagged",
  header: sticky(`<function=${NAME}>\\s*`),
  parameter: sticky("<parameter=(?<name>[^<>\\s]+)>\\n?(?<value>[^]*?)\\n?</parameter>\\s*"),
  footer: "</function>",
};
const functionTags = (name: string, given: Readonly<Record<string, unknown>>): string =>
  `<function=${name}>\n${eachOf(given, (key, value) => `<parameter=${key}>\n${value}\n</parameter>`)}\n</function>`;

/**
 * Every supported form, one row per family; docs/reference/verify.md lists them. Among forms with the same marks the
 * first that parses a text is used.
 * Source: the chat templates that the models' publishers ship.
 */
export const TOOL_CALL_FORMS: readonly ToolCallForm[] = [
  {
    name: "list",
    families: "Apriel, Jamba, Hunyuan; the prompts of BFCL here",
    ...LIST,
    body: { kind: "json", holds: "either", keys: ARGUMENTS },
    write: (name, given) => `<tool_calls>${json([{ name, arguments: given }])}</tool_calls>`,
  },
  {
    name: "minimax",
    families: "MiniMax-Text-01, M1",
    ...LIST,
    body: { kind: "json", holds: "object", keys: ARGUMENTS, between: /\n\s*/ },
    write: (name, given) => `<tool_calls>\n${json({ name, arguments: given })}\n</tool_calls>`,
  },
  {
    name: "hermes",
    families: "Hermes 2 and 3, Qwen 2.5 and 3, Granite 4",
    ...CALL,
    body: { kind: "json", holds: "either", keys: ARGUMENTS },
    write: (name, given) => `<tool_call>\n${json({ name, arguments: given })}\n</tool_call>`,
  },
  {
    name: "granite",
    families: "Granite 3.1 to 3.3",
    ...CALL,
    closeMayLack: true,
    body: { kind: "json", holds: "list", keys: ARGUMENTS },
    write: (name, given) => `<tool_call>${json([{ name, arguments: given }])}`,
  },
  {
    name: "qwen-coder",
    families: "Qwen3-Coder, Nemotron 3",
    ...CALL,
    body: FUNCTION_TAGS,
    write: (name, given) => `<tool_call>\n${functionTags(name, given)}\n</tool_call>`,
  },
  {
    name: "glm",
    families: "GLM-4.5 and later",
    ...CALL,
    body: {
      kind: "tagged",
      header: sticky(`${NAME}\\s*`),
      parameter: sticky("<arg_key>(?<name>[^<]*)</arg_key>\\s*<arg_value>(?<value>[^]*?)</arg_value>\\s*"),
      footer: "",
    },
    write: (name, given) =>
      `<tool_call>${name}\n${eachOf(given, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>`)}\n</tool_call>`,
  },
  {
    name: "glm-4",
    families: "GLM-4",
    open: undefined,
    whole: /^[\w.$-]+\n\s*\{/,
    body: { kind: "named", header: sticky(`${NAME}\\n\\s*`), footer: "" },
    write: (name, given) => `${name}\n${json(given)}`,
  },
  {
    name: "llama",
    families: "Llama 3.1 to 3.3",
    open: /<\|python_tag\|>/,
    whole: /^\{/,
    body: { kind: "json", holds: "object", keys: PARAMETERS, between: /;\s*/ },
    write: (name, given) => json({ name, parameters: given }),
  },
  {
    name: "llama-tags",
    families: "Llama 3 and 3.1, user-defined",
    open: /<function=/,
    close: /<\/function>/,
    body: { kind: "named", header: sticky(`${NAME}>\\s*`), footer: "" },
    write: (name, given) => `<function=${name}>${json(given)}</function>`,
  },
  {
    name: "llama-python",
    families: "Llama 3.2 and 4, ToolACE",
    open: /<\|python_start\|>/,
    close: /<\|python_end\|>/,
    whole: /^\[\s*[\w.]+\s*\(/,
    body: { kind: "python", holds: "list" },
    write: (name, given) => `[${python(name, given)}]`,
  },
  {
    name: "mistral",
    families: "Mistral 7B, Mixtral, Nemo, Large (tokenizers 1 to 3)",
    ...MISTRAL,
    body: { kind: "json", holds: "list", keys: ARGUMENTS },
    write: (name, given) => `[TOOL_CALLS]${json([{ name, arguments: given }])}`,
  },
  {
    name: "mistral-11",
    families: "Mistral Small 3.2, Magistral, Devstral (tokenizers 11 and 13)",
    ...MISTRAL,
    body: {
      kind: "named",
      header: sticky(`\\s*${NAME}(?:\\[CALL_ID\\]\\w+)?(?:\\[ARGS\\])?\\s*`),
      footer: "",
    },
    write: (name, given) => `[TOOL_CALLS]${name}[ARGS]${json(given)}`,
  },
  {
    name: "deepseek",
    families: "DeepSeek V3, R1",
    ...DEEPSEEK,
    body: {
      kind: "named",
      header: sticky(`\\s*<｜tool▁call▁begin｜>function<｜tool▁sep｜>${NAME}\\s*\`\`\`json\\s*`),
      footer: "```<｜tool▁call▁end｜>",
    },
    write: (name, given) =>
      deepseek(
        `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json(given)}\n\`\`\`<｜tool▁call▁end｜>`,
      ),
  },
  {
    name: "deepseek-v3.1",
    families: "DeepSeek V3.1",
    ...DEEPSEEK,
    body: {
      kind: "named",
      header: sticky(`\\s*<｜tool▁call▁begin｜>${NAME}<｜tool▁sep｜>`),
      footer: "<｜tool▁call▁end｜>",
    },
    write: (name, given) =>
      deepseek(`<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json(given)}<｜tool▁call▁end｜>`),
  },
  {
    name: "deepseek-v3.2",
    families: "DeepSeek V3.2",
    open: /<｜DSML｜function_calls>/,
    close: /<\/｜DSML｜function_calls>/,
    body: {
      kind: "tagged",
      header: sticky(`\\s*<｜DSML｜invoke name="${NAME}">\\s*`),
      parameter: sticky(
        '<｜DSML｜parameter name="(?<name>[^"]*)" string="(?<text>true|false)">(?<value>[^]*?)</｜DSML｜parameter>\\s*',
      ),
      footer: "</｜DSML｜invoke>",
    },
    write: (name, given) => {
      const tag = (key: string, value: unknown) =>
        `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">${plain(value)}</｜DSML｜parameter>`;
      const parameters = Object.entries(given).map(([key, value]) => tag(key, value));
      return `<｜DSML｜function_calls>\n<｜DSML｜invoke name="${name}">\n${parameters.join("\n")}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`;
    },
  },
  {
    name: "gpt-oss",
    families: "gpt-oss",
    open: / to=functions\./,
    close: /<\|call\|>/,
    closeMayLack: true,
    body: {
      kind: "named",
      header: sticky(
        `${NAME}\\s*(?:<\\|channel\\|>commentary\\s*)?(?:<\\|constrain\\|>)?\\s*(?:json)?\\s*<\\|message\\|>`,
      ),
      footer: "",
    },
    write: (name, given) =>
      `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json(given)}<|call|>`,
  },
  {
    name: "phi",
    families: "Phi-4-mini, Granite 3.0",
    open: /<\|tool_call\|>/,
    close: /<\|\/tool_call\|>/,
    closeMayLack: true,
    body: { kind: "json", holds: "list", keys: ARGUMENTS },
    write: (name, given) => `<|tool_call|>${json([{ name, arguments: given }])}<|/tool_call|>`,
  },
  {
    name: "functools",
    families: "Phi-4-mini without its tokens, FireFunction",
    open: /\bfunctools(?=\s*\[)/,
    body: { kind: "json", holds: "list", keys: ARGUMENTS },
    write: (name, given) => `functools${json([{ name, arguments: given }])}`,
  },
  {
    name: "granite-20b",
    families: "Granite 20B",
    open: /<function_call>/,
    close: /<\/function_call>/,
    closeMayLack: true,
    body: { kind: "json", holds: "object", keys: ARGUMENTS },
    write: (name, given) => `<function_call> ${json({ name, arguments: given })}`,
  },
  {
    name: "command",
    families: "Command R7B, A",
    open: /<\|START_ACTION\|>/,
    close: /<\|END_ACTION\|>/,
    body: { kind: "json", holds: "list", keys: ACTION },
    write: (name, given) =>
      `<|START_ACTION|>${json([{ tool_call_id: "0", tool_name: name, parameters: given }])}<|END_ACTION|>`,
  },
  {
    name: "command-r",
    families: "Command R, R+",
    open: /\bAction:[ \n]*```json\n/,
    close: /\n```/,
    body: { kind: "json", holds: "list", keys: ACTION },
    write: (name, given) => `Action: \`\`\`json\n${json([{ tool_name: name, parameters: given }])}\n\`\`\``,
  },
  {
    name: "minimax-m2",
    families: "MiniMax-M2",
    open: /<minimax:tool_call>/,
    close: /<\/minimax:tool_call>/,
    body: {
      kind: "tagged",
      header: sticky(`\\s*<invoke name="${NAME}">\\s*`),
      parameter: sticky('<parameter name="(?<name>[^"]*)">(?<value>[^]*?)</parameter>\\s*'),
      footer: "</invoke>",
    },
    write: (name, given) =>
      `<minimax:tool_call>\n<invoke name="${name}">\n${eachOf(given, (key, value) => `<parameter name="${key}">${value}</parameter>`)}\n</invoke>\n</minimax:tool_call>`,
  },
  {
    name: "kimi",
    families: "Kimi K2",
    open: /<\|tool_calls_section_begin\|>/,
    close: /<\|tool_calls_section_end\|>/,
    body: {
      kind: "named",
      header: sticky(
        `\\s*<\\|tool_call_begin\\|>\\s*functions\\.${NAME}:\\d+\\s*<\\|tool_call_argument_begin\\|>\\s*`,
      ),
      footer: "<|tool_call_end|>",
    },
    write: (name, given) =>
      `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${json(given)}<|tool_call_end|><|tool_calls_section_end|>`,
  },
  {
    name: "seed",
    families: "Seed-OSS",
    open: /<seed:tool_call>/,
    close: /<\/seed:tool_call>/,
    body: FUNCTION_TAGS,
    write: (name, given) => `<seed:tool_call>\n${functionTags(name, given)}\n</seed:tool_call>`,
  },
  {
    name: "internlm",
    families: "InternLM 2 and 3",
    open: /<\|action_start\|>\s*<\|plugin\|>/,
    close: /<\|action_end\|>/,
    body: { kind: "json", holds: "object", keys: PARAMETERS },
    write: (name, given) => `<|action_start|><|plugin|>\n${json({ name, parameters: given })}<|action_end|>`,
  },
  {
    name: "nemotron",
    families: "Nemotron Nano and Super",
    open: /<TOOLCALL>/,
    close: /<\/TOOLCALL>/,
    body: { kind: "json", holds: "list", keys: ARGUMENTS },
    write: (name, given) => `<TOOLCALL>${json([{ name, arguments: given }])}</TOOLCALL>`,
  },
  {
    name: "olmo",
    families: "Olmo 3",
    open: /<function_calls>/,
    close: /<\/function_calls>/,
    body: { kind: "python", holds: "lines" },
    write: (name, given) => `<function_calls>\n${python(name, given)}\n</function_calls>`,
  },
  {
    name: "lfm",
    families: "LFM2",
    open: /<\|tool_call_start\|>/,
    close: /<\|tool_call_end\|>/,
    body: { kind: "python", holds: "list" },
    write: (name, given) => `<|tool_call_start|>[${python(name, given)}]<|tool_call_end|>`,
  },
];

/** Finds a form by name. Throws Error for an unknown name. */
export function toolCallForm(name: string): ToolCallForm {
  const form = TOOL_CALL_FORMS.find((one) => one.name === name);
  if (form === undefined) throw new Error(`no form of tool calls is called ${name}`);
  return form;
}
