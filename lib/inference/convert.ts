import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { HoneError } from "../errors.ts";
import {
  type ModelWriterOptions,
  type ModelWriterReport,
  type WeightDtype,
  writeModelFolder,
} from "../native/index.ts";
import { parseConfig } from "../shared/models/config-json.ts";
import { readModelFile } from "./model-folder.ts";

export interface ConvertOptions {
  /** The folder to write. */
  readonly target: string;
  /** Default: each tensor's own dtype. */
  readonly dtype?: WeightDtype;
  /** Largest weight file in bytes; default: the files of the source. */
  readonly shardBytes?: number;
  /** Replace an existing model folder. Default false. */
  readonly force?: boolean;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

export interface ExportOptions extends ConvertOptions {
  /** Checkpoint folder that supplies the weights: model*.safetensors in f32 under the text model's names. */
  readonly checkpoint: string;
  /** Small files to write beside the weights; they replace files of the source with equal names. */
  readonly files?: readonly { readonly name: string; readonly text: string }[];
}

export interface ConvertReport extends ModelWriterReport {
  /** Files copied beside the weights. */
  readonly copied: readonly string[];
  /** Files of the source that are neither safetensors weights nor copied. */
  readonly leftOut: readonly string[];
}

const CONFIG_NAMES: Readonly<Record<WeightDtype, string>> = {
  f32: "float32",
  bf16: "bfloat16",
  f16: "float16",
};
const CHECKPOINT_ONLY = /^(?:manifest\.json|optimizer.*\.safetensors(?:\.index\.json)?)$/;
const WEIGHTS = /\.(?:safetensors|bin|pt|pth|ckpt|gguf|h5|msgpack|onnx|npz|tflite)$|\.index\.json$/;
const MORE_TEMPLATES = "additional_chat_templates";
/** Tokenizers of large vocabularies have some 30 MB; anything larger is not copied as a small file. */
const LARGEST_COPY = 128 << 20;

/**
 * Rewrites a model folder with other files or another dtype; with neither, the bytes are unchanged. Streams tensors
 * from the mapped source. The target appears complete or not at all.
 * Throws HONE_ERR_USAGE if the target exists and may not be replaced; HONE_ERR_IO; HONE_ERR_FORMAT naming file and
 * tensor; HONE_ERR_DATA naming the tensor and value that does not fit the dtype; HONE_ERR_ABORTED.
 */
export function convertModel(source: string, options: ConvertOptions): Promise<ConvertReport> {
  return write(source, options);
}

/**
 * Writes a trained checkpoint as the folder it began from: the names, files and dtypes of `source`, its config and
 * tokenizer, its vision tower untouched. Without a source (a run from random weights) the checkpoint's own folder is
 * the source. Throws what convertModel throws.
 */
export function exportModel(source: string | undefined, options: ExportOptions): Promise<ConvertReport> {
  if (source === undefined) return write(options.checkpoint, options);
  return write(source, options, options.checkpoint);
}

type WriteOptions = ConvertOptions & Pick<ExportOptions, "files">;

async function write(source: string, options: WriteOptions, values?: string): Promise<ConvertReport> {
  const { target, dtype, shardBytes, force = false, onProgress, signal, files = [] } = options;
  const stored = readModelFile(source, "config.json");
  const config = values === undefined ? stored : withoutQuantization(stored);
  checkTarget(target, [source, ...(values === undefined ? [] : [values])], force);
  const written = new Set(files.map(({ name }) => name));
  const { copied: found, leftOut } = smallFiles(source);
  // a custom template replaces all template files, including those for tools
  const isReplaced = (name: string) =>
    written.has(name) || (written.has("chat_template.jinja") && name.startsWith(`${MORE_TEMPLATES}/`));
  const copied = found.filter((name) => !isReplaced(name));
  const extras: ModelWriterOptions["extras"] = [
    { name: "config.json", text: dtype === undefined ? config : withDtype(config, dtype) },
    ...copied.map((name) => ({ name, from: join(source, name) })),
    ...files,
  ];
  const request = {
    source,
    target,
    extras,
    ...(values !== undefined && { values }),
    ...(dtype !== undefined && { dtype }),
    ...(shardBytes !== undefined && { shardBytes }),
  };
  const report = await writeModelFolder(request, onProgress, signal);
  return { ...report, copied: ["config.json", ...copied], leftOut };
}

/** Throws unless the target does not exist, is an empty folder, or, with `force`, is a model folder. */
export function checkTarget(
  target: string,
  sources: readonly string[],
  force: boolean,
  mark = "config.json",
): void {
  const place = (path: string): string =>
    existsSync(path) ? realpathSync(path) : join(place(dirname(resolve(path))), basename(path));
  const inside = (a: string, b: string) => `${a}${sep}`.startsWith(`${b}${sep}`);
  for (const source of sources) {
    const [from, to] = [place(source), place(target)];
    if (inside(from, to) || inside(to, from))
      throw new HoneError(
        "HONE_ERR_USAGE",
        `${target} and ${source} are one folder, or one is inside the other`,
        { hint: "Write it to a folder of its own, such as models/mine." },
      );
  }
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory())
    throw new HoneError("HONE_ERR_USAGE", `the target ${target} is a file; it must be a folder`);
  if (readdirSync(target).length === 0) return;
  if (!force) {
    throw new HoneError("HONE_ERR_USAGE", `${target} is not empty`, {
      hint: "Give another folder, or --force to replace it.",
    });
  }
  if (!existsSync(join(target, mark)))
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${target} has no ${mark}, so it is not such a folder and is not replaced`,
    );
}

/** The small files of a model folder beside config and weights, by name. */
function smallFiles(source: string): { readonly copied: string[]; readonly leftOut: string[] } {
  const copied: string[] = [];
  const leftOut: string[] = [];
  const add = (name: string) => {
    const small = statSync(join(source, name)).size <= LARGEST_COPY;
    (small && !WEIGHTS.test(name) ? copied : leftOut).push(name);
  };
  for (const name of readdirSync(source).sort()) {
    if (name.startsWith(".") || name === "config.json" || CHECKPOINT_ONLY.test(name)) continue;
    const isFolder = statSync(join(source, name)).isDirectory();
    if (isFolder && name !== MORE_TEMPLATES) leftOut.push(`${name}/`);
    else if (isFolder) for (const file of readdirSync(join(source, name)).sort()) add(`${name}/${file}`);
    else add(name);
  }
  const written = writtenAnew(source);
  return { copied, leftOut: leftOut.filter((name) => !written.has(name)) };
}

/** The weight files that the core writes. */
function writtenAnew(source: string): Set<string> {
  const index = "model.safetensors.index.json";
  if (!existsSync(join(source, index))) return new Set(["model.safetensors"]);
  const { weight_map: map } = JSON.parse(readFileSync(join(source, index), "utf8")) as {
    weight_map?: object;
  };
  return new Set([index, ...(Object.values(map ?? {}) as string[])]);
}

/** The config's text without quantization_config, since trained weights are written as floats. Changes nothing else. */
export function withoutQuantization(configText: string): string {
  const key = /"quantization_config"\s*:\s*/.exec(configText);
  if (key === null || configText[key.index + key[0].length] !== "{") return configText;
  const end = objectEnd(configText, key.index + key[0].length);
  const [before, after] = [configText.slice(0, key.index), configText.slice(end)];
  const comma = /^\s*,\s*/.exec(after);
  return comma === null
    ? before.replace(/,\s*$/, "\n") + after.replace(/^\s+/, "")
    : before + after.slice(comma[0].length);
}

/** End of the JSON object that begins at `start`. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  for (const token of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    depth += token[0] === "{" ? 1 : token[0] === "}" ? -1 : 0;
    if (depth === 0) return start + token.index + 1;
  }
  return text.length;
}

/**
 * The config's text with every stated dtype (the model's, and those of a wrapper's parts) replaced; the rest stays
 * unchanged, so that numbers keep their spelling. Adds "dtype" if none is stated.
 */
export function withDtype(configText: string, dtype: WeightDtype): string {
  const stated = /("(?:torch_dtype|dtype)"\s*:\s*)"(?:torch\.)?(?:float32|bfloat16|float16|float64)"/g;
  const name = JSON.stringify(CONFIG_NAMES[dtype]);
  const text = configText.replace(stated, (_, key: string) => `${key}${name}`);
  const { dtype: now, torch_dtype: before } = parseConfig(text) as Record<string, unknown>;
  if (now != null || before != null) return text;
  return text.replace(
    "{",
    Object.keys(parseConfig(text) as object).length ? `{\n  "dtype": ${name},` : `{"dtype": ${name}`,
  );
}
