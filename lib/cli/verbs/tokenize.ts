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
  const tokenizer = openTokenizer(model);
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
      'token ids of texts: {"text"} a line in, {"ids", "text"} a line out, text decoded from the ids',
    )
    .requiredOption("--model <folder>", "a Hugging Face model folder, or its tokenizer.json")
    .requiredOption("--file <jsonl>", 'one {"text": ...} a line')
    .option("--no-special", "leave out what the tokenizer puts around a text (bos, eos)")
    .action(ends(tokenize));
};
