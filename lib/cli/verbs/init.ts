import { HoneError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import type { Verb } from "./verb.ts";

interface Flags {
  readonly model?: string;
  readonly data?: string;
  readonly reward?: string;
  readonly yes?: boolean;
  readonly yaml?: boolean;
}

const QUESTIONS = {
  model: "Model, a folder or org/name of the Hub",
  data: "Data, a file, a folder or hf:org/name",
  reward:
    "Reward, a verifier, rewards.py#name or ./mine.ts#name (empty: a verifier that reads the rows' answers)",
} as const;

async function init(given: string | undefined, flags: Flags): Promise<number> {
  const { expectNew, writeRecipe } = await import("../init.ts");
  const file = given ?? (flags.yaml ? "recipe.yaml" : "recipe.ts");
  expectNew(file);
  const asks = process.stdin.isTTY === true && !flags.yes;
  const { model, data, reward } = asks ? await asked(flags) : flags;
  if (!model || !data)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `init needs ${model ? "" : "--model "}${data ? "" : "--data"}`.trimEnd(),
      {
        hint: "npx hone init --model Qwen/Qwen3-0.6B --data train.jsonl [--reward rewards.py#name]",
      },
    );
  process.stdout.write(`${await writeRecipe(file, { model, data, reward: reward || undefined })}\n`);
  return EXIT.done;
}

/** Prompts for the settings that no flag gives. */
async function asked(flags: Flags): Promise<Pick<Flags, keyof typeof QUESTIONS>> {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answers: Record<string, string> = {};
  try {
    for (const [name, question] of Object.entries(QUESTIONS))
      answers[name] =
        flags[name as keyof typeof QUESTIONS] ?? (await terminal.question(`${question}: `)).trim();
  } finally {
    terminal.close();
  }
  return answers;
}

export const initVerb: Verb = (hone, ends) => {
  hone
    .command("init [file]")
    .description("write a recipe for a model, rows and a reward, after a look at them (default: recipe.ts)")
    .option("--model <folder-or-name>", "model to train: a folder, or org/name of the Hub")
    .option("--data <source>", "rows: a file, a folder, or hf:org/name")
    .option(
      "--reward <name>",
      "a verifier, rewards.py#name, ./mine.ts#name (default: a verifier that reads the rows' answers)",
    )
    .option("--yes", "ask no questions, even at a terminal")
    .option("--yaml", "write recipe.yaml")
    .action(ends(init));
};
