import { HoneError } from "../errors.ts";
import type { ChatMessage } from "../records.ts";
import { readTokenizerConfig } from "../shared/models/tokenizer-config.ts";
import { globals, RaisedByTemplate } from "./jinja/globals.ts";
import { Interpreter } from "./jinja/interpreter.ts";
import { parseTemplate } from "./jinja/parser.ts";
import { type Body, TemplateSyntaxError } from "./jinja/syntax.ts";
import { fromJs, UnknownName } from "./jinja/values.ts";

/** Inputs of a chat template other than the messages. */
export interface RenderOptions {
  /** JSON Schemas of the functions a model may call. */
  readonly tools?: readonly unknown[] | undefined;
  /** End with the opening of an assistant's turn. Default false. */
  readonly addGenerationPrompt?: boolean;
  /** The current time for strftime_now. Default now. */
  readonly clock?: Date | undefined;
  /** Further variables of the template, such as {enable_thinking: false}. They take precedence over all others. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Special tokens that a template may write. */
export interface TemplateTokens {
  readonly bosToken?: string | undefined;
  readonly eosToken?: string | undefined;
}

/**
 * A chat template: messages to the text a model is prompted with, as transformers' apply_chat_template renders it
 * (but times are UTC).
 */
export class ChatTemplate {
  readonly where: string;
  readonly #body: Body;
  readonly #tokens: TemplateTokens;

  /**
   * @param where name of the template in error messages
   * Throws HONE_ERR_UNSUPPORTED naming the line of unsupported syntax.
   */
  constructor(source: string, where: string, tokens: TemplateTokens = {}) {
    this.where = where;
    this.#tokens = tokens;
    try {
      this.#body = parseTemplate(source);
    } catch (cause) {
      const line = cause instanceof TemplateSyntaxError ? cause.line : undefined;
      throw this.#fault("HONE_ERR_UNSUPPORTED", line, cause);
    }
  }

  /**
   * Throws HONE_ERR_DATA naming the line if the template refuses these messages (raise_exception; details.raised is
   * its text) or cannot be applied to them.
   */
  render(messages: readonly ChatMessage[], options: RenderOptions = {}): string {
    const { tools, addGenerationPrompt = false, clock = new Date(), variables = {} } = options;
    const { bosToken, eosToken } = this.#tokens;
    const given = {
      messages,
      tools: tools ?? null,
      documents: null,
      add_generation_prompt: addGenerationPrompt,
      bos_token: bosToken,
      eos_token: eosToken,
      ...variables,
    };
    const all = new Map(globals(clock));
    for (const [name, value] of Object.entries(given)) if (value !== undefined) all.set(name, fromJs(value));
    const interpreter = new Interpreter();
    try {
      return interpreter.render(this.#body, all);
    } catch (cause) {
      const unknown = cause instanceof UnknownName;
      throw this.#fault(unknown ? "HONE_ERR_UNSUPPORTED" : "HONE_ERR_DATA", interpreter.line, cause);
    }
  }

  #fault(
    code: "HONE_ERR_UNSUPPORTED" | "HONE_ERR_DATA",
    line: number | undefined,
    cause: unknown,
  ): HoneError {
    const message = cause instanceof Error ? cause.message : String(cause);
    const place = line === undefined ? this.where : `${this.where}, line ${line}`;
    const raised = cause instanceof RaisedByTemplate ? { raised: message } : {};
    return new HoneError(code, `${place}: ${message}`, {
      cause,
      details: { template: this.where, line, ...raised },
    });
  }
}

/** Selects a chat template of a model folder. */
export interface ChatTemplateChoice {
  /** Jinja source to use instead of the folder's, if the recipe has one. */
  readonly source?: string;
  /** Name among several templates, for example "tool_use". Default "default". */
  readonly name?: string;
}

/**
 * The chat template of a Hugging Face model folder, with the folder's bos and eos.
 * Throws HONE_ERR_CONFIG if it has none of that name, HONE_ERR_UNSUPPORTED naming file and line.
 */
export function openChatTemplate(folder: string, choice: ChatTemplateChoice = {}): ChatTemplate {
  const config = readTokenizerConfig(folder);
  if (choice.source !== undefined)
    return new ChatTemplate(choice.source, "the recipe's chat template", config);
  const name = choice.name ?? "default";
  const found = config.chatTemplates.get(name);
  if (found !== undefined) return new ChatTemplate(found.source, found.where, config);
  const known = [...config.chatTemplates.keys()].join(", ");
  throw new HoneError("HONE_ERR_CONFIG", `${folder} has no chat template "${name}"`, {
    hint:
      known === ""
        ? "Base models have none: name a .jinja file in the recipe's chatTemplate.file, or take the instruct model."
        : `It has: ${known}.`,
  });
}
