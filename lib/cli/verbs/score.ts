import { once } from "node:events";
import { defaultDevice, deviceOf } from "../../device.ts";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { progress } from "../progress.ts";
import { STRICT_CONFIG, type Verb, weightsOption } from "./verb.ts";

interface Flags {
  readonly model: string;
  readonly file: string;
  readonly temperature: string;
  readonly device?: string;
  readonly weights?: "f32" | "bf16";
}

function temperatureOf(text: string): number {
  const temperature = Number(text);
  if (temperature > 0 && Number.isFinite(temperature)) return temperature;
  throw new HoneError("HONE_ERR_USAGE", `--temperature is ${text}; it must be a number over 0`);
}

async function score({ model, file, temperature, device, weights }: Flags): Promise<number> {
  const { scoreFile } = await import("../score-file.ts");
  const { modelFolder } = await import("../model-name.ts");
  const folder = await modelFolder(model);
  const on = { device: device === undefined ? defaultDevice() : deviceOf(device, "--device"), weights };
  const line = progress();
  for await (const { logprobs, entropy } of scoreFile(folder, file, temperatureOf(temperature), on, line)) {
    line.end();
    const score = JSON.stringify({ logprobs: Array.from(logprobs), entropy: Array.from(entropy) });
    if (!process.stdout.write(`${score}\n`)) await once(process.stdout, "drain");
  }
  return EXIT.done;
}

export const scoreVerb: Verb = (hone, ends) => {
  hone
    .command("score")
    .description(
      "compute log-probabilities and entropies of token sequences under a model (whole vocabulary), one JSON object a line",
    )
    .requiredOption("--model <model>", "a Hugging Face model folder, or a name on the Hub")
    .requiredOption("--file <ids.jsonl>", 'JSON lines of {"ids": [...]}')
    .option("--temperature <t>", "temperature by which the logits are divided", "1")
    .option("--device <name>", "cpu or cuda (default: cpu, or what HONE_DEVICE says)")
    .addOption(weightsOption("f32"))
    .option(...STRICT_CONFIG)
    .action(ends(score));
};
