import { HoneError } from "../errors.ts";
import type { ChatMessage, Problem } from "../records.ts";
import { readPlainFile } from "../shared/files/plain-file.ts";
import { readTokenizerConfig } from "../shared/models/tokenizer-config.ts";
import { ChatTemplate, openChatTemplate } from "./chat-template.ts";
import { readJson } from "./jinja/values.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { plainTurns, type TurnFormat, templateTurns } from "./turn-format.ts";

const MOST_TEMPLATE_BYTES = 1 << 24;

/** The parts of a problem that make up its prompt. */
export type Task = Pick<Problem, "question" | "messages" | "tools">;

export interface Reading {
  /**
   * The text without the token that ended the completion; spells out every other special token, so that the policy
   * cannot hide text from its verifier. Begins with "<think>" if the prompt ended with it: the thought belongs to the
   * completion.
   */
  readonly text: string;
  /** Tokens left out because the vocabulary has no text for them. */
  readonly textless: number;
}

/** Formats prompts and decodes completions. */
export interface PromptFormat {
  /** True if a model folder has no chat template, so that prompts are plain text. */
  readonly lacksTemplate?: boolean;
  /** Tokens that end a completion, at least one; the first is the model's own end of a turn. */
  readonly stopIds: readonly number[];
  /** First id that is a padding row of the model's embedding; all higher ids are padding too. */
  readonly vocabulary: number;
  /**
   * Throws HONE_ERR_DATA for a task that cannot be written: characters the vocabulary lacks, messages the template
   * refuses.
   */
  prompt(task: Task): Int32Array;
  /** Upper bound of the prompt's tokens; undefined if only encoding determines it, and whether it can be encoded. */
  mostTokens?(task: Task): number | undefined;
  read(tokens: Int32Array): Reading;
  /** Decodes an episode's sampled and observed parts as one text split at the same positions. */
  readParts(parts: readonly Int32Array[]): { readonly texts: readonly string[]; readonly textless: number };
  /** The format between turns of an episode. Throws HONE_ERR_UNSUPPORTED for a template without one. */
  turns(): TurnFormat;
}

/**
 * Prompts of the bos token, if there is one, and the question; spellings of special tokens in it are ordinary
 * characters.
 */
export function plainFormat(
  tokenizer: Tokenizer,
  stopIds: readonly number[] = [tokenizer.special.eos],
): PromptFormat {
  const reader = new CompletionReader(tokenizer, stopIds);
  return {
    stopIds,
    vocabulary: idsOf(tokenizer, stopIds),
    prompt({ question }) {
      const { bos } = tokenizer.special;
      const ids = tokenizer.encode(question, { specials: "spell" });
      return bos === undefined ? ids : Int32Array.of(bos, ...ids);
    },
    mostTokens({ question }) {
      const most = tokenizer.mostTokens?.(question);
      return most === undefined ? undefined : most + 1; // 1 for bos
    },
    read: (tokens) => reader.read(tokens),
    readParts: (parts) => reader.readParts(parts),
    turns: () => plainTurns(tokenizer, stopIds[0]!),
  };
}

/** One more than the greatest id of a text or end token. */
export const idsOf = ({ vocabularySize }: Tokenizer, stopIds: readonly number[]): number =>
  Math.max(vocabularySize, ...stopIds.map((id) => id + 1));

/** A recipe's prompt settings; each defaults to the model's own. */
export interface ChatChoice {
  /** The current time for the template's strftime_now. Default now. */
  readonly clock?: Date;
  /** Path of a .jinja file to use as the template. */
  readonly file?: string | undefined;
  /** True for plain text without a template, as for a base model. */
  readonly plain?: boolean | undefined;
  /** Further variables of the template. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** System message that is put before conversations without one. */
  readonly system?: string | undefined;
  readonly stopIds?: readonly number[] | undefined;
}

/**
 * The chat template of a model folder, ending with the opening of the assistant's turn; for a folder without one,
 * such as a base model's, plain text (wordsAlone). Encodes the rendered text as transformers does: spellings of
 * special tokens become those tokens, bos only if the template writes it. Completions end at every end token that the
 * folder's files name, and at the token that the template puts after an answer. Passes tools to the template if it
 * renders them (preferring one named "tool_use"); otherwise asks the question in words, which describes them.
 * Throws HONE_ERR_CONFIG if there is no end token, HONE_ERR_IO, HONE_ERR_UNSUPPORTED naming file and line.
 */
export function chatFormat(folder: string, tokenizer: Tokenizer, choice: ChatChoice = {}): PromptFormat {
  const lacksTemplate = readTokenizerConfig(folder).chatTemplates.size === 0;
  if (choice.file === undefined && (choice.plain || lacksTemplate))
    return { ...wordsAlone(folder, tokenizer, choice), lacksTemplate };
  const { template, forTools } = openTemplates(folder, choice.file);
  const { variables = {}, system } = choice;
  const stopIds = choice.stopIds ?? endsOf(folder, tokenizer, template, variables);
  const toolsAreShown = showsTools(forTools, variables);
  const opening = opensThought(template, variables) ? THINK : "";
  const reader = new CompletionReader(tokenizer, stopIds, opening);
  return {
    stopIds,
    vocabulary: idsOf(tokenizer, stopIds),
    prompt({ question, messages, tools }) {
      const structured = tools === undefined || toolsAreShown;
      const turns = (structured ? messages : undefined) ?? [{ role: "user", content: question }];
      const silent = system === undefined || turns[0]?.role === "system";
      const all: readonly ChatMessage[] = silent ? turns : [{ role: "system", content: system }, ...turns];
      const offered = structured && tools !== undefined ? readTools(tools) : undefined;
      const text = (offered === undefined ? template : forTools).render(all, {
        tools: offered,
        addGenerationPrompt: true,
        variables,
        clock: choice.clock,
      });
      return tokenizer.encode(text);
    },
    read: (tokens) => reader.read(tokens),
    readParts: (parts) => reader.readParts(parts),
    turns: () => templateTurns(template, tokenizer, variables),
  };
}

/**
 * A base model's prompts: the contents of the turns separated by blank lines, encoded as transformers encodes a text:
 * with the tokenizer's own special tokens around it, and spellings of special tokens as those tokens. Completions end
 * at every end token that the folder's files name; tools are described in words.
 */
function wordsAlone(folder: string, tokenizer: Tokenizer, { system, ...choice }: ChatChoice): PromptFormat {
  const stopIds = choice.stopIds ?? namedEnds(folder, tokenizer);
  const reader = new CompletionReader(tokenizer, stopIds);
  return {
    stopIds,
    vocabulary: idsOf(tokenizer, stopIds),
    prompt({ question, messages, tools }) {
      const turns = (tools === undefined ? messages : undefined) ?? [{ role: "user", content: question }];
      const contents = turns.map(({ content }) => String(content));
      if (system !== undefined && turns[0]?.role !== "system") contents.unshift(system);
      return tokenizer.encode(contents.join("\n\n"), { addSpecial: true });
    },
    read: (tokens) => reader.read(tokens),
    readParts: (parts) => reader.readParts(parts),
    turns: () => plainTurns(tokenizer, stopIds[0]!),
  };
}

function openTemplates(
  folder: string,
  file: string | undefined,
): { readonly template: ChatTemplate; readonly forTools: ChatTemplate } {
  const config = readTokenizerConfig(folder);
  if (file === undefined) {
    const template = openChatTemplate(folder);
    const forTools = config.chatTemplates.has("tool_use")
      ? openChatTemplate(folder, { name: "tool_use" })
      : template;
    return { template, forTools };
  }
  const source = readPlainFile(file, MOST_TEMPLATE_BYTES, "chatTemplate.file names it.").toString();
  const template = new ChatTemplate(source, file, config);
  return { template, forTools: template };
}

/** Throws HONE_ERR_DATA. */
function readTools(json: string): readonly unknown[] {
  try {
    const tools = readJson(json);
    if (Array.isArray(tools)) return tools;
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `tools are not JSON: ${(cause as Error).message}`, { cause });
  }
  throw new HoneError("HONE_ERR_DATA", `tools are not a list: ${json.slice(0, 60)}`);
}

const PROBE = "probe";
const USER: ChatMessage = { role: "user", content: "x" };

/** The special token that a template puts after an answer, and every named end token. */
function endsOf(
  folder: string,
  tokenizer: Tokenizer,
  template: ChatTemplate,
  variables: Readonly<Record<string, unknown>>,
): number[] {
  return namedEnds(folder, tokenizer, endOfTurn(tokenizer, template, variables));
}

/** The end of a turn and the folder's end tokens. Throws HONE_ERR_CONFIG if there is none. */
function namedEnds(folder: string, tokenizer: Tokenizer, ofTurn?: number): number[] {
  const { eosIds, eosToken } = readTokenizerConfig(folder);
  const named = eosToken === undefined ? undefined : tokenizer.idOf(eosToken);
  const ends = [ofTurn, ...eosIds, named].filter((id) => id !== undefined);
  if (ends.length > 0) return [...new Set(ends)];
  throw new HoneError("HONE_ERR_CONFIG", `${folder}: no file and no chat template names an end token`, {
    hint: "Give rollouts.stopIds in the recipe.",
  });
}

function endOfTurn(
  tokenizer: Tokenizer,
  template: ChatTemplate,
  variables: Readonly<Record<string, unknown>>,
): number | undefined {
  const turns = [USER, { role: "assistant", content: PROBE }];
  const answered = attempt(() => template.render(turns, { variables })) ?? "";
  const at = answered.lastIndexOf(PROBE);
  const [first] = at < 0 ? [] : tokenizer.encode(answered.slice(at + PROBE.length).trimStart());
  const isSpecial = first !== undefined && tokenizer.decode([first], { skipSpecial: true }) === "";
  return isSpecial ? first : undefined;
}

function showsTools(template: ChatTemplate, variables: Readonly<Record<string, unknown>>): boolean {
  const parameters = { type: "object", properties: {}, required: [] };
  const tools = [{ type: "function", function: { name: PROBE, description: PROBE, parameters } }];
  return attempt(() => template.render([USER], { variables, tools }))?.includes(PROBE) ?? false;
}

const THINK = "<think>";

/** True if the opening of the assistant's turn also opens a thought without closing it. */
function opensThought(template: ChatTemplate, variables: Readonly<Record<string, unknown>>): boolean {
  const [turn, opened] = [false, true].map((addGenerationPrompt) =>
    attempt(() => template.render([USER], { variables, addGenerationPrompt })),
  );
  if (turn === undefined || !opened?.startsWith(turn)) return false;
  const opening = opened.slice(turn.length);
  return opening.lastIndexOf(THINK) > opening.lastIndexOf("</think>");
}

function attempt(render: () => string): string | undefined {
  try {
    return render();
  } catch {
    return undefined; // a template may raise for this probe
  }
}

const UNKNOWN = 0;
const HAS_TEXT = 1;
const TEXTLESS = 2;

class CompletionReader {
  readonly #tokenizer: Tokenizer;
  readonly #ends: ReadonlySet<number>;
  readonly #opening: string;
  /** Cached kind of each id: querying the tokenizer for every token of every completion would be too slow. */
  #kinds = new Uint8Array(0);

  constructor(tokenizer: Tokenizer, ends: readonly number[], opening = "") {
    this.#tokenizer = tokenizer;
    this.#opening = opening;
    this.#ends = new Set(ends);
  }

  read(tokens: Int32Array): Reading {
    const { texts, textless } = this.readParts([tokens]);
    return { text: texts[0]!, textless };
  }

  readParts(parts: readonly Int32Array[]): { readonly texts: readonly string[]; readonly textless: number } {
    let textless = 0;
    const texts = parts.map((tokens, i) => {
      const isEnded = i === parts.length - 1 && tokens.length > 0 && this.#ends.has(tokens.at(-1)!);
      const said = isEnded ? tokens.subarray(0, -1) : tokens;
      const spelled = said.every((id) => this.#hasText(id)) ? said : said.filter((id) => this.#hasText(id));
      textless += said.length - spelled.length;
      return (i === 0 ? this.#opening : "") + this.#tokenizer.decode(spelled);
    });
    return { texts, textless };
  }

  #hasText(id: number): boolean {
    if (this.#kinds.length === 0) this.#kinds = new Uint8Array(this.#tokenizer.vocabularySize);
    if (this.#kinds[id] === UNKNOWN)
      this.#kinds[id] = this.#tokenizer.nameOf(id) === undefined ? TEXTLESS : HAS_TEXT;
    return this.#kinds[id] === HAS_TEXT;
  }
}
