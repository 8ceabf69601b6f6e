import { Option } from "commander";
import { HoneError } from "../../errors.ts";
import type { BenchPart } from "../bench.ts";
import { EXIT } from "../exit.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly device: "cpu" | "cuda";
  readonly shape: string;
  readonly batch: string;
  readonly outputTokens: string;
  readonly packedTokens: string;
  readonly promptTokens: string;
  readonly promptSequences: string;
  readonly loraRank: string;
  readonly recompute?: boolean;
  readonly parts: string;
  readonly weights: "f32" | "bf16";
  readonly arithmetic?: "f32" | "bf16";
}

const SEQUENCE_TOKENS = 4096;

async function bench(flags: Flags): Promise<number> {
  const { BENCH_PARTS, benchModels, benchText } = await import("../bench.ts");
  const { nativeCore } = await import("../../orchestration/index.ts");
  const { arithmeticOf } = await import("../../config/index.ts");
  const { device: on, weights: weightStorage, arithmetic: asked } = flags;
  if (asked === "bf16" && weightStorage !== "bf16" && on === "cpu")
    throw new HoneError("HONE_ERR_USAGE", "--arithmetic bf16 multiplies weights stored as bf16", {
      hint: "Add --weights bf16.",
    });
  const core = await nativeCore();
  const { isa, threads, cuda } = core.info();
  const arithmetic = arithmeticOf({ device: on, model: { weightStorage, arithmetic: asked } }, isa);
  const rows = await benchModels(core, {
    device: flags.device,
    shapes: flags.shape.split(","),
    batches: sizes("--batch", flags.batch),
    outputTokens: positive("--output-tokens", flags.outputTokens),
    packedTokens: sizes("--packed-tokens", flags.packedTokens),
    promptTokens: sizes("--prompt-tokens", flags.promptTokens),
    promptSequences: sizes("--prompt-sequences", flags.promptSequences),
    loraRank: positive("--lora-rank", flags.loraRank),
    recompute: flags.recompute === true,
    parts: partsOf(flags.parts, BENCH_PARTS),
    weightStorage,
    arithmetic,
    sequenceTokens: SEQUENCE_TOKENS,
  });
  const device =
    on === "cuda"
      ? cuda.devices[0]!
      : `CPU, ${isa}, ${threads} threads, weights in ${weightStorage}, products in ${arithmetic}`;
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  print(flags, { device, rows, peakBytes }, benchText(rows, device, peakBytes));
  return EXIT.done;
}

function partsOf(text: string, known: readonly BenchPart[]): BenchPart[] {
  return text.split(",").map((name) => {
    const part = known.find((one) => one === name);
    if (part !== undefined) return part;
    throw new HoneError("HONE_ERR_USAGE", `--parts has "${name}"; known: ${known.join(", ")}`);
  });
}

const sizes = (option: string, text: string) => text.split(",").map((size) => positive(option, size));

function positive(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new HoneError("HONE_ERR_USAGE", `${option} is "${text}"; it must be a whole number above 0`);
}

export const benchVerb: Verb = (hone, ends) => {
  hone
    .command("bench")
    .description(
      "measure tokens per second of whole models with random weights, generating and training (kernels: npm run bench)",
    )
    .addOption(new Option("--device <name>", "where").choices(["cuda", "cpu"]).default("cuda"))
    .option("--shape <names>", "model sizes, separated by commas: 0.6b, 4b, 8b, tiny", "0.6b,4b,8b")
    .option("--batch <sizes>", "sequences decoding at once", "1,2,4,8,16,32,64,128,256")
    .option("--output-tokens <n>", "tokens generated per sequence", "128")
    .option("--packed-tokens <sizes>", "tokens of the training steps", "16384")
    .option("--prompt-tokens <sizes>", "tokens of each prompt in the part prefill", "512")
    .option("--prompt-sequences <sizes>", "prompts that are prefilled at once", "1")
    .option("--lora-rank <n>", "rank of the adapters on all linear layers, in the part lora", "16")
    .option("--recompute", "training steps recompute activations, as with hardware.recompute")
    .option(
      "--parts <names>",
      "what to measure, separated by commas: generation, prefill, training, lora",
      "generation,prefill,training",
    )
    .addOption(
      new Option("--weights <name>", "storage type of matrices, keys and values on the CPU")
        .choices(["f32", "bf16"])
        .default("f32"),
    )
    .addOption(
      new Option(
        "--arithmetic <name>",
        "type of the products' factors on the CPU; default: as for model.arithmetic",
      ).choices(["f32", "bf16"]),
    )
    .option("--json", "print JSON")
    .action(ends(bench));
};
