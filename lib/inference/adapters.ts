import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type LoraOptions, Trainer } from "../native/index.ts";
import { checkTarget } from "./convert.ts";
import { ADAPTER_CONFIG } from "./expect-weights.ts";
import { NO_OPTIMIZER, readModelFile } from "./model-folder.ts";

const ADAPTER_WEIGHTS = "adapter_model.safetensors";

/** True if a folder has adapters but not all weights. */
export const holdsAdapters = (folder: string) => existsSync(join(folder, ADAPTER_CONFIG));

export interface AdapterSource {
  /** Model folder of the weights that the adapters are added to. */
  readonly base: string;
  /** A PEFT folder with config.json beside it: a checkpoint. */
  readonly adapters: string;
  readonly lora: LoraOptions;
  readonly weightStorage: "f32" | "bf16";
}

/**
 * Writes W + alpha/rank B A as a model folder in f32, rounded as training rounded it: with bf16 storage every
 * matrix has values of bf16. Throws the core's errors for either folder.
 */
export async function mergeAdapters(source: AdapterSource, target: string): Promise<void> {
  const { base, adapters, lora, weightStorage } = source;
  const config = readModelFile(adapters, "config.json");
  const options = { optimizer: NO_OPTIMIZER, packedTokens: 64, weightStorage, device: "cpu", lora } as const;
  const trainer = new Trainer(config, options);
  try {
    await trainer.loadHf(base);
    await trainer.loadAdapters(adapters);
    await trainer.saveModel(target);
  } finally {
    await trainer.close();
  }
}

/**
 * Writes the adapters of a checkpoint as PEFT reads them; the folder appears complete or not at all.
 * @param base the model that PEFT loads first: a name of the Hub, or a folder.
 * Throws HONE_ERR_USAGE for a target that is in the way, HONE_ERR_IO.
 */
export function exportAdapters(
  checkpoint: string,
  options: {
    readonly base: string;
    readonly target: string;
    readonly force?: boolean;
    readonly card: string;
    /** Small files to write beside the adapters. */
    readonly files?: readonly { readonly name: string; readonly text: string }[];
  },
): void {
  const { base, target, force = false, card, files = [] } = options;
  checkTarget(target, [checkpoint], force, ADAPTER_CONFIG);
  const config = JSON.parse(readFileSync(join(checkpoint, ADAPTER_CONFIG), "utf8")) as object;
  const temporary = `${target}.tmp-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  try {
    const named = { ...config, base_model_name_or_path: base };
    writeFileSync(join(temporary, ADAPTER_CONFIG), `${JSON.stringify(named, null, 2)}\n`);
    for (const { name, text } of [...files, { name: "README.md", text: card }])
      writeFileSync(join(temporary, name), text);
    copyFileSync(join(checkpoint, ADAPTER_WEIGHTS), join(temporary, ADAPTER_WEIGHTS));
    rmSync(target, { recursive: true, force: true });
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
