import { deviceOf } from "../../device.ts";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { type Common, STRICT_CONFIG, type Verb, weightsOption } from "./verb.ts";

interface Flags extends Common {
  readonly model: string;
  readonly prompt: string;
  readonly raw?: boolean;
  readonly maxTokens?: string;
  readonly temperature: string;
  readonly topP: string;
  readonly topK: string;
  readonly seed: string;
  readonly device?: string;
  readonly weights?: "f32" | "bf16";
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new HoneError("HONE_ERR_USAGE", `${flag} is ${JSON.stringify(text)}, not a number`);
}

function wholeOf(flag: string, text: string): bigint {
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) return BigInt(text);
  throw new HoneError("HONE_ERR_USAGE", `${flag} is ${JSON.stringify(text)}, not a whole number below 2^64`);
}

async function generateVerbAction(flags: Flags): Promise<number> {
  const { generate } = await import("../generate.ts");
  const { chatOf, modelFolder } = await import("../model-name.ts");
  const request = {
    prompt: flags.prompt,
    raw: flags.raw ?? false,
    sampling: {
      temperature: numberOf("--temperature", flags.temperature),
      topP: numberOf("--top-p", flags.topP),
      topK: numberOf("--top-k", flags.topK),
    },
    ...(flags.maxTokens !== undefined && { maxTokens: Number(wholeOf("--max-tokens", flags.maxTokens)) }),
    seed: wholeOf("--seed", flags.seed),
    ...(flags.device !== undefined && { device: deviceOf(flags.device, "--device") }),
    ...(flags.weights !== undefined && { weights: flags.weights }),
    chat: chatOf(flags.model),
    directory: await modelFolder(flags.model), // the last field, because this may download a model
  };
  const say = flags.json ? () => {} : (piece: string) => void process.stdout.write(piece);
  const { text, ...facts } = await generate(request, say);
  process.stdout.write(flags.json ? `${JSON.stringify({ text, ...facts })}\n` : "\n");
  if (!flags.json)
    process.stderr.write(
      `${facts.ids.length} tokens, ${facts.finish}, ${facts.tokensPerSecond.toFixed(1)} tokens/s\n`,
    );
  return EXIT.done;
}

export const generateVerb: Verb = (hone, ends) => {
  hone
    .command("generate")
    .description("answer a prompt with a Hugging Face model folder, streaming the text")
    .requiredOption("--model <model>", "folder with config, weights and tokenizer, or a name on the Hub")
    .requiredOption("--prompt <text>", "text of the user's message")
    .option("--raw", "continue the plain prompt, without the chat template")
    .option("--max-tokens <n>", "longest answer in tokens (default: 256, or the model's remaining positions)")
    .option("--temperature <t>", "0 is greedy", "1")
    .option("--top-p <p>", "1 is off", "1")
    .option("--top-k <k>", "0 is off", "0")
    .option("--seed <n>", "random seed; with prompt and weights it determines every token", "0")
    .option("--device <name>", "cpu or cuda (default: cpu, or what HONE_DEVICE says)")
    .addOption(weightsOption())
    .option(
      "--json",
      "print one JSON object instead: text, ids, logprobs (of the distribution at this temperature, before top-k, top-p and min-p), finish",
    )
    .option(...STRICT_CONFIG)
    .action(ends(generateVerbAction));
};
