import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import type { Verb } from "./verb.ts";

interface Flags {
  readonly model: string;
  readonly file: string;
  /** False with --no-special. */
  readonly special: boolean;
}

/** {"text": ...} of one line. Throws HONE_ERR_DATA naming file and line. */
function textOf(line: string, where: string): string {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${where}: ${(cause as Error).message}`, { cause });
  }
  const text = typeof row === "object" && row !== null ? (row as { text?: unknown }).text : undefined;
  if (typeof text === "string") return text;
  throw new HoneError("HONE_ERR_DATA", `${where}: ${line.slice(0, 80)} has no "text" that is a string`);
}

async function tokenize({ model, file, special }: Flags): Promise<number> {
  const { openTokenizer } = await import("../../native/index.ts");
  const tokenizer = openTokenizer(model);
  const input = createReadStream(file, "utf8");
  await once(input, "open").catch((cause: Error) => {
    throw new HoneError("HONE_ERR_IO", `${file}: ${cause.message}`, { cause });
  });
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === "") continue;
    const ids = tokenizer.encode(textOf(line, `${file}:${number}`), { addSpecial: special });
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
