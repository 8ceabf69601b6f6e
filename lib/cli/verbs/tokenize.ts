import { once } from "node:events";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { readJsonLines } from "../json-lines.ts";
import type { Verb } from "./verb.ts";

interface Flags {
  readonly model: string;
  readonly file: string;
  /** False with --no-special. */
  readonly special: boolean;
}

async function tokenize({ model, file, special }: Flags): Promise<number> {
  const { openTokenizer } = await import("../../native/index.ts");
  const { modelFolder } = await import("../model-name.ts");
  const tokenizer = openTokenizer(await modelFolder(model, { withWeights: false }));
  for await (const { value, where } of readJsonLines(file)) {
    const text = typeof value === "object" && value !== null && "text" in value ? value.text : undefined;
    if (typeof text !== "string")
      throw new HoneError(
        "HONE_ERR_DATA",
        `${where}: ${JSON.stringify(value).slice(0, 80)} has no "text" that is a string`,
      );
    const ids = tokenizer.encode(text, { addSpecial: special });
    const row = JSON.stringify({ ids: [...ids], text: tokenizer.decode(ids) });
    if (!process.stdout.write(`${row}\n`)) await once(process.stdout, "drain");
  }
  return EXIT.done;
}

export const tokenizeVerb: Verb = (hone, ends) => {
  hone
    .command("tokenize")
    .description(
      'compute token ids of texts: a line {"text"} in, a line {"ids", "text"} out, whose text is decoded from the ids',
    )
    .requiredOption(
      "--model <model>",
      "a Hugging Face model folder, its tokenizer.json, or a name on the Hub",
    )
    .requiredOption("--file <jsonl>", 'JSON lines of {"text": ...}')
    .option("--no-special", "do not add the tokenizer's special tokens around a text (bos, eos)")
    .action(ends(tokenize));
};
