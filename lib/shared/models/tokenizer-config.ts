/**
 * Reads the files of a model folder about its tokenizer other than tokenizer.json: special tokens, end tokens, chat
 * templates.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HoneError } from "../../errors.ts";
import { readPlainFile } from "../files/plain-file.ts";
import { parseConfig } from "./config-json.ts";

/** Published files have up to some hundred kilobytes. */
const MOST_BYTES = 1 << 26;

export interface TokenizerConfig {
  /** Path of tokenizer.json. */
  readonly tokenizerFile: string;
  readonly bosToken: string | undefined;
  readonly eosToken: string | undefined;
  readonly padToken: string | undefined;
  /** Every end token in config.json (including text_config) and generation_config.json. */
  readonly eosIds: readonly number[];
  /** Jinja sources by name; "default" is used unless another is requested. Empty if the folder has none. */
  readonly chatTemplates: ReadonlyMap<string, ChatTemplateSource>;
}

export interface ChatTemplateSource {
  readonly source: string;
  /** File and, in a list, name: what error messages call it. */
  readonly where: string;
}

/**
 * Reads tokenizer_config.json, config.json, generation_config.json, chat_template.jinja and
 * additional_chat_templates/*.jinja beside a tokenizer.json; each may be missing. A .jinja file wins over a
 * template of the same name in tokenizer_config.json.
 * @param path the folder, or the tokenizer.json itself
 * Throws HONE_ERR_IO if there is no tokenizer.json, HONE_ERR_FORMAT naming file and field.
 * Source: huggingface/transformers, PreTrainedTokenizerBase.save_pretrained.
 */
export function readTokenizerConfig(path: string): TokenizerConfig {
  const tokenizerFile =
    existsSync(path) && statSync(path).isDirectory() ? join(path, "tokenizer.json") : path;
  if (!existsSync(tokenizerFile)) {
    throw new HoneError("HONE_ERR_IO", `${tokenizerFile} does not exist`, {
      hint: "Give the folder of a Hugging Face model with a tokenizer.json (a slow tokenizer can be converted by saving it with transformers).",
    });
  }
  const folder = dirname(tokenizerFile);
  const file = join(folder, "tokenizer_config.json");
  const config = existsSync(file) ? readObject(file) : {};
  return {
    tokenizerFile,
    bosToken: tokenName(config["bos_token"], file, "bos_token"),
    eosToken: tokenName(config["eos_token"], file, "eos_token"),
    padToken: tokenName(config["pad_token"], file, "pad_token"),
    eosIds: readEosIds(folder),
    chatTemplates: new Map([...listedTemplates(config["chat_template"], file), ...templateFiles(folder)]),
  };
}

function readObject(file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseConfig(readPlainFile(file, MOST_BYTES).toString());
  } catch (cause) {
    if (HoneError.is(cause)) throw cause;
    throw new HoneError("HONE_ERR_FORMAT", `${file}: ${(cause as Error).message}`, { cause });
  }
  if (isObject(value)) return value;
  throw new HoneError("HONE_ERR_FORMAT", `${file}: not an object`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads a token of a field: "<s>" or {"content": "<s>", ...}. */
function tokenName(value: unknown, file: string, field: string): string | undefined {
  const name = isObject(value) ? value["content"] : value;
  if (name === undefined || name === null) return undefined;
  if (typeof name === "string") return name;
  throw new HoneError("HONE_ERR_FORMAT", `${file}: ${field} is ${JSON.stringify(value)}, expected a token`);
}

/**
 * Reads eos_token_id of both files, which may be one id or a list, and for a multimodal wrapper also of
 * `text_config`.
 */
function readEosIds(folder: string): number[] {
  const ids = new Set<number>();
  for (const name of ["generation_config.json", "config.json"]) {
    const file = join(folder, name);
    if (!existsSync(file)) continue;
    const config = readObject(file);
    const inner = isObject(config["text_config"]) ? config["text_config"] : {};
    for (const eos of [config["eos_token_id"], inner["eos_token_id"]].flat()) {
      if (eos === undefined || eos === null) continue;
      if (typeof eos !== "number" || !Number.isInteger(eos) || eos < 0)
        throw new HoneError(
          "HONE_ERR_FORMAT",
          `${file}: eos_token_id has ${JSON.stringify(eos)}; it must be a token id or a list of them`,
        );
      ids.add(eos);
    }
  }
  return [...ids];
}

function listedTemplates(value: unknown, file: string): [string, ChatTemplateSource][] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [["default", { source: value, where: `${file}: chat_template` }]];
  if (!Array.isArray(value)) throw malformed(file, value);
  return value.map((entry: unknown) => {
    if (!isObject(entry)) throw malformed(file, entry);
    const { name, template } = entry;
    if (typeof name !== "string" || typeof template !== "string") throw malformed(file, entry);
    return [name, { source: template, where: `${file}: chat_template "${name}"` }];
  });
}

function malformed(file: string, value: unknown): HoneError {
  const shown = JSON.stringify(value).slice(0, 80);
  return new HoneError(
    "HONE_ERR_FORMAT",
    `${file}: chat_template holds ${shown}; it must be a string or a list of {name, template}`,
  );
}

function templateFiles(folder: string): [string, ChatTemplateSource][] {
  const read = (name: string, where: string): [string, ChatTemplateSource] => [
    name,
    { source: readPlainFile(where, MOST_BYTES).toString(), where },
  ];
  const more = join(folder, "additional_chat_templates");
  const named = existsSync(more) ? readdirSync(more).filter((file) => file.endsWith(".jinja")) : [];
  const main = join(folder, "chat_template.jinja");
  return [
    ...named.sort().map((file) => read(basename(file, ".jinja"), join(more, file))),
    ...(existsSync(main) ? [read("default", main)] : []),
  ];
}
