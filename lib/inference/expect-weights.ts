import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";

/** File that PEFT reads in a folder of adapters. */
export const ADAPTER_CONFIG = "adapter_config.json";
const WEIGHTS = ["model.safetensors", "model.safetensors.index.json"] as const;
const MOST_NAMES = 12;

/** True if a model folder has weights in the form that Hone loads. */
export const hasWeights = (folder: string): boolean => WEIGHTS.some((name) => existsSync(join(folder, name)));

/** Throws HONE_ERR_IO if a folder, or a file in its place, has no weights; the hint says what it has instead. */
export function expectWeights(folder: string): void {
  if (hasWeights(folder)) return;
  const message = `${join(folder, WEIGHTS[0])} is not there, and no ${WEIGHTS[1]} either`;
  throw new HoneError("HONE_ERR_IO", message, { hint: modelFolderHint(folder) });
}

/** Says what a folder, or a file in its place, has instead of a model, and how to get a model folder from it. */
export function modelFolderHint(folder: string): string {
  const names = namesIn(folder);
  const has = (pattern: RegExp) => names.some((name) => pattern.test(name));
  if (names.includes(ADAPTER_CONFIG) && !hasWeights(folder)) return adaptersHint(folder);
  if (has(/\.gguf$/))
    return "GGUF files are not read: give the folder, or the Hub name, of the model that they were made from.";
  if (has(/\.(?:bin|pt|pth)$/) && !hasWeights(folder))
    return `Weights pickled by PyTorch are not read, since loading them can run code. transformers writes them as safetensors: AutoModelForCausalLM.from_pretrained("${folder}").save_pretrained("new-folder").`;
  if (has(/^consolidated.*\.safetensors$/))
    return "consolidated.safetensors has Mistral's own names of tensors: download model.safetensors, or the model-*.safetensors with their index, of the same repository.";
  if (has(/\.safetensors$/) && !hasWeights(folder))
    return "Shards need model.safetensors.index.json beside them, which names the file of each tensor; a single file is called model.safetensors.";
  const some = names.slice(0, MOST_NAMES).join(", ");
  return `A model folder holds config.json and model.safetensors (or shards with model.safetensors.index.json)${some === "" ? "" : `; this one has ${some}`}.`;
}

/** Names of the files of a folder; of a file its path; none if neither exists. */
function namesIn(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isDirectory() ? readdirSync(path).sort() : [path];
}

function adaptersHint(folder: string): string {
  const base = baseOf(join(folder, ADAPTER_CONFIG)) ?? "<base>";
  return `It holds PEFT adapters of ${base}. To train them further: model: { folder: "${base}", adapter: "${folder}" } and lora in the recipe. As a model of its own, merged in Python: PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("${base}"), "${folder}").merge_and_unload().save_pretrained("merged"), with the tokenizer's files copied there.`;
}

function baseOf(file: string): string | undefined {
  try {
    const { base_model_name_or_path: base } = JSON.parse(readFileSync(file, "utf8")) as Record<
      string,
      unknown
    >;
    return typeof base === "string" ? base : undefined;
  } catch {
    return undefined; // damaged: the hint then names no model
  }
}
