import { defaultRate } from "../config/index.ts";
import type { KeptRow } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import { findConfig, resolveModelFolder } from "../inference/index.ts";
import { openTokenizer } from "../native/tokenizer.ts";
import { PromptEncoder } from "../orchestration/index.ts";
import { parseConfig } from "../shared/models/config-json.ts";
import { chatFormat } from "../text/index.ts";

/** Facts about a model and data that determine a recipe's lengths. */
export interface InitLengths {
  readonly maxPromptTokens: number;
  readonly maxOutputTokens: number;
  /** Undefined if the default for a published model applies. */
  readonly lr: number | undefined;
  /** Source of the numbers, for messages. */
  readonly said: string;
}

const MOST_OUTPUT = 512;
const STEP = 64;
/** Models narrower than this count as new small models and use their learning rate. */
const SMALL_WIDTH = 256;
/** Characters per token of English with the tokenizers of published models; a low estimate for when no tokenizer is available. */
const CHARS_PER_TOKEN = 3;

/**
 * Reads a model's config and tokenizer, downloading them if the name is neither local nor known. Throws HONE_ERR_IO
 * or HONE_ERR_HUB if the model is not found, HONE_ERR_CONFIG if it has too few positions, HONE_ERR_DATA if no prompt
 * fits.
 */
export async function lookAtModel(model: string, rows: readonly KeptRow[]): Promise<InitLengths> {
  const folder = await smallFiles(model);
  const parsed = parseConfig((await findConfig(folder ?? model)).config) as Record<string, unknown>;
  const text = (parsed["text_config"] ?? parsed) as Record<string, unknown>;
  const positions = Number(text["max_position_embeddings"] ?? 2048);
  const lr =
    Number(text["hidden_size"] ?? SMALL_WIDTH) < SMALL_WIDTH ? defaultRate({ model: {} }) : undefined;
  const lengths = folder === undefined ? guessed(rows) : measured(folder, rows);
  const longest = Math.ceil(Math.max(1, ...lengths) / STEP) * STEP;
  const maxPromptTokens = Math.max(STEP, Math.min(longest, Math.floor(positions / 2 / STEP) * STEP));
  const maxOutputTokens = Math.min(MOST_OUTPUT, positions - maxPromptTokens);
  const by =
    folder === undefined
      ? ", estimated from their characters, since the tokenizer is not on this machine"
      : "";
  const tooLong = lengths.filter((length) => length > maxPromptTokens).length;
  if (tooLong === lengths.length) throw noneFits(model, positions, maxPromptTokens);
  const left =
    tooLong === 0
      ? ""
      : `, of which ${tooLong} are left out because they have more than ${maxPromptTokens} tokens`;
  const said = `${positions} positions; prompts up to ${Math.max(...lengths)} tokens${left}${by}`;
  if (maxOutputTokens > 0) return { maxPromptTokens, maxOutputTokens, lr, said };
  throw new HoneError(
    "HONE_ERR_CONFIG",
    `${model} has ${positions} positions; prompts take at least ${STEP}, which leaves none for the output`,
  );
}

const noneFits = (model: string, positions: number, room: number): HoneError =>
  new HoneError(
    "HONE_ERR_DATA",
    `${model} has ${positions} positions, of which prompts may take ${room}; the prompts of all of the first rows are longer`,
    { hint: "Take shorter rows, or a model with more positions." },
  );

/**
 * The folder with a model's config and tokenizer; undefined for a published model that is not local but whose config
 * is known.
 */
async function smallFiles(model: string): Promise<string | undefined> {
  const isKnown = await findConfig(model).then(
    () => true,
    () => false,
  );
  const here = resolveModelFolder(model, { ...(isKnown && { offline: true }), withWeights: false });
  return isKnown ? here.catch(absent) : here;
}

function absent(error: unknown): undefined {
  if (HoneError.is(error) && (error.code === "HONE_ERR_HUB" || error.code === "HONE_ERR_IO"))
    return undefined;
  throw error;
}

const guessed = (rows: readonly KeptRow[]): number[] =>
  rows.map(({ question }) => Math.ceil(question.length / CHARS_PER_TOKEN) + STEP);

/** Counts the tokens of the rows' prompts. Reads no weights from the folder. */
function measured(folder: string, rows: readonly KeptRow[]): number[] {
  const encoder = new PromptEncoder(chatFormat(folder, openTokenizer(folder)), Number.MAX_SAFE_INTEGER);
  return rows.map((row) => encoder.encode({ ...row, domain: "any", verifier: "any", id: 0 }).tokens.length);
}
