import { HoneError } from "../errors.ts";
import type { ChatMessage } from "../records.ts";
import { TOOL_CALL_FORMS } from "../shared/models/tool-call-forms.ts";
import type { ChatTemplate } from "./chat-template.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * A chat template's format of calls: a form's name in lib/shared/models/tool-call-forms.ts, or "plain", which is
 * `name(text)`.
 */
export type ToolCallStyle = string;

/** Tokens between two turns of the policy. */
export interface TurnFormat {
  readonly toolCalls: ToolCallStyle;
  /**
   * Tokens between the policy's last token and its next turn: the end of its turn unless it has written that itself,
   * the observation, the opening of the next turn. Spellings of special tokens in the observation are ordinary
   * characters. Throws HONE_ERR_DATA for characters that the vocabulary cannot spell.
   * @param ended the token that ended the policy's turn; undefined if a limit or a stop string did
   */
  observation(text: string, ended: number | undefined): Int32Array;
}

/** Without a chat template the observation follows directly. @param end closes a truncated turn */
export const plainTurns = (tokenizer: Tokenizer, end: number): TurnFormat => ({
  toolCalls: "plain",
  observation(text, ended) {
    const ids = tokenizer.encode(wellFormed(text), { specials: "spell" });
    return ended === undefined && ids.length > 0 ? Int32Array.of(end, ...ids) : ids;
  },
});

/** Replaces lone surrogates by U+FFFD, as writing the text to a file would. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

const USER: ChatMessage = { role: "user", content: "x" };
const ANSWER = "hone-answer";
/** Contains a quotation mark, to detect templates that escape their input. */
const OBSERVED = 'hone"observation';

/** Text that a template adds before and after an observation. */
interface Surroundings {
  readonly before: string;
  readonly after: string;
}

/**
 * Turns in a chat template's format: an observation is a tool message if the template renders one verbatim, otherwise
 * a user message. The surrounding text is the difference of two renderings, so sampled text is never rendered or
 * encoded again. Throws HONE_ERR_UNSUPPORTED for a template without such a difference: one that renders the text
 * after an answer differently later in a conversation, or omits it.
 */
export function templateTurns(
  template: ChatTemplate,
  tokenizer: Tokenizer,
  variables: Readonly<Record<string, unknown>>,
): TurnFormat {
  const { before, after } = surroundings(template, variables);
  const isSpecial = (id: number) => tokenizer.decode([id], { skipSpecial: true }) === "";
  const specialsOf = (ids: Int32Array) => ids.filter(isSpecial).join();
  const encodeAround = (opening: string, text: string): Int32Array => {
    const whole = tokenizer.encode(opening + text + after);
    const [head, tail] = [tokenizer.encode(opening), tokenizer.encode(after)];
    const glue = [specialsOf(head), specialsOf(tail)].filter((ids) => ids !== "").join();
    if (specialsOf(whole) === glue) return whole;
    return Int32Array.of(...head, ...tokenizer.encode(text, { specials: "spell" }), ...tail);
  };
  return {
    toolCalls: styleOf(template, variables),
    observation: (text, ended) => encodeAround(withoutEnd(before, tokenizer, ended), wellFormed(text)),
  };
}

/** The text before an observation, without the end of the turn if the policy has written one. */
function withoutEnd(before: string, tokenizer: Tokenizer, ended: number | undefined): string {
  if (ended === undefined) return before;
  const own = tokenizer.decode([ended]);
  const opening = before.trimStart();
  if (own !== "" && opening.startsWith(own)) return opening.slice(own.length);
  // the policy wrote an end token other than the template's
  const [first] = tokenizer.encode(opening);
  const usual = first === undefined ? "" : tokenizer.decode([first]);
  const isEnd = first !== undefined && tokenizer.decode([first], { skipSpecial: true }) === "";
  return isEnd && opening.startsWith(usual) ? opening.slice(usual.length) : before;
}

function surroundings(template: ChatTemplate, variables: Readonly<Record<string, unknown>>): Surroundings {
  const answer: ChatMessage = { role: "assistant", content: ANSWER };
  const asTool = { role: "tool", name: "tool", tool_call_id: "call00000", content: OBSERVED };
  for (const observed of [asTool, { role: "user", content: OBSERVED }]) {
    const once = tailOf(template, [USER, answer, observed], variables);
    if (once === undefined) continue;
    const twice = tailOf(template, [USER, answer, observed, answer, observed], variables);
    if (twice?.before === once.before && twice.after === once.after) return once;
  }
  throw new HoneError(
    "HONE_ERR_UNSUPPORTED",
    `${template.where}: it cannot be used for episodes, because it does not format a conversation turn by turn`,
    {
      hint: "The text after an answer must begin with the end of the answer, and be the same in every turn; name such a template in chatTemplate.file.",
    },
  );
}

function tailOf(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  variables: Readonly<Record<string, unknown>>,
): Surroundings | undefined {
  const text = attempt(() => template.render(messages, { variables, addGenerationPrompt: true }));
  const at = text?.lastIndexOf(ANSWER) ?? -1;
  if (text === undefined || at < 0) return undefined;
  const [before, after, ...more] = text.slice(at + ANSWER.length).split(OBSERVED);
  return after === undefined || more.length > 0 ? undefined : { before: before!, after };
}

/** The form in which a template writes a call; Hermes' if the form is unknown, or the template has none. */
function styleOf(template: ChatTemplate, variables: Readonly<Record<string, unknown>>): ToolCallStyle {
  const given = { x: 1 };
  for (const spelled of [given, JSON.stringify(given)]) {
    const call = { type: "function", id: "call00000", function: { name: "probe", arguments: spelled } };
    const turn = { role: "assistant", content: "", tool_calls: [call] };
    const text = attempt(() => template.render([USER, turn], { variables }));
    if (text === undefined || !text.includes("probe")) continue;
    if (text.includes("probe(1)")) return "plain";
    const written = TOOL_CALL_FORMS.map((form) => ({ form, text: bare(form.write("probe", given)) }))
      .filter((one) => bare(text).includes(one.text))
      .sort((a, b) => b.text.length - a.text.length);
    return (
      (written[0]?.form ?? TOOL_CALL_FORMS.find(({ open }) => open?.test(text)))?.name ?? unmarkedStyle(text)
    );
  }
  return "hermes";
}

/** Removes parts that vary between templates: blanks and the id of a call. */
const bare = (text: string): string =>
  text.replace(/\s/g, "").replace(/,"(?:id|tool_call_id)":"[^"]*"|"(?:id|tool_call_id)":"[^"]*",/g, "");

const unmarkedStyle = (text: string): ToolCallStyle => (/"parameters"\s*:/.test(text) ? "llama" : "hermes");

function attempt(render: () => string): string | undefined {
  try {
    return render();
  } catch {
    return undefined; // a template may raise for this probe
  }
}
