// Generates calls and refusals whose verdict follows from how they are made. Their forms are written from the chat
// templates, without the code under test.

/** A small generator of random numbers (mulberry32), so that every run makes the same cases. */
export function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number) => Math.floor(next() * below);
  const pick = <T>(items: readonly T[]): T => items[int(items.length)]!;
  return { next, int, pick };
}
export type Random = ReturnType<typeof randomOf>;

export type Given = Readonly<Record<string, unknown>>;
export interface MadeCall {
  readonly name: string;
  readonly given: Given;
}

const all = (calls: readonly MadeCall[], one: (call: MadeCall, index: number) => string, between = "") =>
  calls.map(one).join(between);
const raw = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const object = ({ name, given }: MadeCall) =>
  `{"name": ${JSON.stringify(name)}, "arguments": ${JSON.stringify(given)}}`;
const withParameters = ({ name, given }: MadeCall) => JSON.stringify({ name, parameters: given });
const listOf = (calls: readonly MadeCall[]) => `[${all(calls, object, ", ")}]`;
const actions = (calls: readonly MadeCall[]) =>
  JSON.stringify(
    calls.map(({ name, given }, i) => ({ tool_call_id: `${i}`, tool_name: name, parameters: given })),
    null,
    2,
  );

function literal(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value as Given)
      .map(([key, item]) => `'${key}': ${literal(item)}`)
      .join(", ")}}`;
  return typeof value === "string" ? `'${value.replace(/[\\']/g, "\\$&")}'` : String(value);
}
const python = ({ name, given }: MadeCall) =>
  `${name}(${Object.entries(given)
    .map(([key, value]) => `${key}=${literal(value)}`)
    .join(", ")})`;
const tags = ({ given }: MadeCall, one: (key: string, value: unknown) => string) =>
  Object.entries(given)
    .map(([key, value]) => one(key, value))
    .join("\n");
const qwen = (call: MadeCall) =>
  `<function=${call.name}>\n${tags(call, (key, value) => `<parameter=${key}>\n${raw(value)}\n</parameter>`)}\n</function>`;

/** How each model family writes one call or several; undefined for several if the family writes one call per turn. */
export const FAMILIES: Readonly<Record<string, (calls: readonly MadeCall[]) => string | undefined>> = {
  Apriel: (calls) => `<tool_calls>${listOf(calls)}</tool_calls>`,
  OpenAI: (calls) =>
    `<tool_calls>[${all(calls, ({ name, given }) => JSON.stringify({ type: "function", function: { name, arguments: JSON.stringify(given) } }), ",")}]</tool_calls>`,
  Hermes: (calls) => all(calls, (call) => `<tool_call>\n${object(call)}\n</tool_call>`, "\n"),
  Qwen: (calls) =>
    `I look that up.\n${all(calls, (call) => `<tool_call>\n${object(call)}\n</tool_call>`, "\n")}`,
  "Qwen-Coder": (calls) => all(calls, (call) => `<tool_call>\n${qwen(call)}\n</tool_call>`, "\n"),
  Seed: (calls) => all(calls, (call) => `<seed:tool_call>\n${qwen(call)}\n</seed:tool_call>`, "\n"),
  "GLM-4": (calls) =>
    calls.length > 1 ? undefined : `${calls[0]!.name}\n${JSON.stringify(calls[0]!.given)}`,
  "GLM-4.5": (calls) =>
    all(
      calls,
      (call) =>
        `<tool_call>${call.name}\n${tags(call, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${raw(value)}</arg_value>`)}\n</tool_call>`,
      "\n",
    ),
  "Llama 3.1": (calls) => all(calls, withParameters, "; "),
  "Llama 3.1, token": (calls) =>
    `<|python_tag|>${all(calls, withParameters, "; ")}<|eom_id|>`.replace("<|eom_id|>", ""),
  "Llama 3, tags": (calls) =>
    all(calls, ({ name, given }) => `<function=${name}>${JSON.stringify(given)}</function>`, "\n"),
  "Llama 3.2": (calls) => `[${all(calls, python, ", ")}]`,
  "Llama 4": (calls) => `<|python_start|>[${all(calls, python, ", ")}]<|python_end|>`,
  "Mistral 3": (calls) => `[TOOL_CALLS] ${listOf(calls)}`,
  "Mistral 1": (calls) => `[TOOL_CALLS]${listOf(calls)}`,
  "Mistral 13": (calls) =>
    all(calls, ({ name, given }) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(given)}`),
  "DeepSeek V3": (calls) =>
    `<｜tool▁calls▁begin｜>${all(calls, ({ name, given }) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${JSON.stringify(given)}\n\`\`\`<｜tool▁call▁end｜>`, "\n")}<｜tool▁calls▁end｜>`,
  "DeepSeek V3.1": (calls) =>
    `<｜tool▁calls▁begin｜>${all(calls, ({ name, given }) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${JSON.stringify(given)}<｜tool▁call▁end｜>`)}<｜tool▁calls▁end｜>`,
  "DeepSeek V3.2": (calls) =>
    `<｜DSML｜function_calls>\n${all(calls, (call) => `<｜DSML｜invoke name="${call.name}">\n${tags(call, (key, value) => `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">${raw(value)}</｜DSML｜parameter>`)}\n</｜DSML｜invoke>`, "\n")}\n</｜DSML｜function_calls>`,
  "gpt-oss": (calls) =>
    calls.length > 1
      ? undefined
      : `<|channel|>analysis<|message|>One call is needed.<|end|><|start|>assistant<|channel|>commentary to=functions.${calls[0]!.name} <|constrain|>json<|message|>${JSON.stringify(calls[0]!.given)}<|call|>`,
  "Phi-4-mini": (calls) => `<|tool_call|>${listOf(calls)}<|/tool_call|>`,
  "Phi-4-mini, plain": (calls) => `functools${listOf(calls)}`,
  "Granite 3.0": (calls) => `<|tool_call|>${listOf(calls)}`,
  "Granite 3.1": (calls) => `<tool_call>${listOf(calls)}`,
  "Granite 20B": (calls) =>
    all(calls, (call) => `<function_call> ${object(call)}`, "\n").replace(
      /\n<function_call>/g,
      "</function_call><function_call>",
    ),
  "Command R7B": (calls) => `<|START_ACTION|>${actions(calls)}<|END_ACTION|>`,
  "Command R+": (calls) => `Plan: I ask the tool.\nAction: \`\`\`json\n${actions(calls)}\n\`\`\``,
  "MiniMax-M1": (calls) => `<tool_calls>\n${all(calls, object, "\n")}\n</tool_calls>`,
  "MiniMax-M2": (calls) =>
    `<minimax:tool_call>\n${all(calls, (call) => `<invoke name="${call.name}">\n${tags(call, (key, value) => `<parameter name="${key}">${raw(value)}</parameter>`)}\n</invoke>`, "\n")}\n</minimax:tool_call>`,
  "Kimi K2": (calls) =>
    `<|tool_calls_section_begin|>${all(calls, ({ name, given }, i) => `<|tool_call_begin|>functions.${name}:${i}<|tool_call_argument_begin|>${JSON.stringify(given)}<|tool_call_end|>`)}<|tool_calls_section_end|>`,
  InternLM: (calls) =>
    calls.length > 1 ? undefined : `<|action_start|><|plugin|>\n${withParameters(calls[0]!)}\n<|action_end|>`,
  Nemotron: (calls) => `<TOOLCALL>${listOf(calls)}</TOOLCALL>`,
  "Olmo 3": (calls) => `<function_calls>\n${all(calls, python, "\n")}\n</function_calls>`,
  LFM2: (calls) => `<|tool_call_start|>[${all(calls, python, ", ")}]<|tool_call_end|>`,
};

/** Forms of calls that no reader in lib/ supports. */
export const UNKNOWN_FORMS: Readonly<Record<string, (call: MadeCall) => string>> = {
  Claude: (call) =>
    `<function_calls>\n<invoke name="${call.name}">\n${tags(call, (key, value) => `<parameter name="${key}">${raw(value)}</parameter>`)}\n</invoke>\n</function_calls>`,
  ReAct: ({ name, given }) =>
    `Thought: I need the tool.\nAction: ${name}\nAction Input: ${JSON.stringify(given)}`,
  "OpenAI message": ({ name, given }) =>
    `{"role": "assistant", "tool_calls": [{"id": "x", "type": "function", "function": {"name": "${name}", "arguments": ${JSON.stringify(JSON.stringify(given))}}}]}`,
  Gemma: (call) => `\`\`\`tool_code\n${python(call)}\n\`\`\``,
  Functionary: ({ name, given }) => `>>>${name}\n${JSON.stringify(given)}`,
  "a fence of JSON": (call) => `\`\`\`json\n${object(call)}\n\`\`\``,
  "a bare list": (call) => `[${object(call)}]`,
  "a bare object": (call) => object(call),
  "with other keys": ({ name, given }) => JSON.stringify({ tool: name, tool_input: given }),
  "with the arguments first": ({ name, given }) => JSON.stringify({ arguments: given, name }),
  "in single quotes": ({ name, given }) => literal({ name, arguments: given }),
  "in a sentence": (call) => `Sure, here is the call: ${python(call)}.`,
  "in bold": (call) => `**${python(call)}**`,
  "in backticks": (call) => `Calling \`${python(call)}\` now.`,
  "name and object": ({ name, given }) => `${name} ${JSON.stringify(given)}`,
  "name, colon, object": ({ name, given }) => `${name}: ${JSON.stringify(given)}`,
  "tags with another name": (call) => `<tool_use>${object(call)}</tool_use>`,
  "a tag in capitals": (call) => `<TOOL_CALL>${object(call)}`,
  "escaped tags": (call) => `&lt;tool_call&gt;${object(call).replaceAll('"', "&quot;")}&lt;/tool_call&gt;`,
  "a hidden mark": () => "<tool\u200b_call>",
  "full-width brackets": () => "＜tool_call＞",
  "curly quotes": (call) => object(call).replaceAll('"', "”"),
};
