import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { checked } from "../checked.ts";
import type { CaseReader } from "../verify-case.ts";
import type { Mode } from "./judging.ts";
import { instructionFollowing } from "./verify.ts";

/** The published prompts of IFEval and of IFBench. If both use a key, the row's constraint ids tell which it refers to. */
const PROMPT_FILES = ["ifeval_input_data.jsonl", "ifbench_test.jsonl"];

const kwargsSchema = z.record(z.string(), z.unknown()).nullable();
const rowSchema = z.object({
  response: z.string(),
  instruction_id: z.string().optional(),
  instruction_id_list: z.array(z.string()).optional(),
  kwargs: z.union([kwargsSchema, z.array(kwargsSchema)]).optional(),
  key: z.union([z.string(), z.number()]).optional(),
  mode: z.enum(["train", "strict", "loose", "constraint"]).optional(),
});
const promptSchema = z.object({
  key: z.union([z.string(), z.number()]),
  instruction_id_list: z.array(z.string()),
  kwargs: z.array(kwargsSchema),
});

interface Constraints {
  readonly instruction_id_list: readonly string[];
  readonly kwargs: readonly unknown[];
}
type Prompts = ReadonlyMap<string, readonly Constraints[]>;

/** Prompts by folder, so that a case file reads its prompts once. */
const READ = new Map<string, Promise<Prompts>>();

/**
 * Reads { response, instruction_id, kwargs } with one constraint, { response, instruction_id_list, kwargs }
 * with many, or { response, key }, whose constraints are those of that key in ifeval_input_data.jsonl or
 * ifbench_test.jsonl in the folder of the case file. The default of `mode` is constraint for the first shape,
 * train for the second, strict for the third.
 */
export const readCase: CaseReader = async (row, folder) => {
  const fields = checked(rowSchema, row, "instruction-following case", "row");
  const { response, instruction_id, instruction_id_list, kwargs, key, mode } = fields;
  const own = ownConstraints(instruction_id, instruction_id_list, kwargs);
  const constraints = own ?? { ...(await promptOf(key, instruction_id_list, folder)), mode: "strict" };
  return {
    verifier: instructionFollowing,
    completion: { text: response, finish: "stop" },
    reference: { ...constraints, ...(mode && { mode }) },
  };
};

function ownConstraints(
  id: string | undefined,
  ids: readonly string[] | undefined,
  kwargs: unknown,
): (Constraints & { readonly mode: Mode }) | undefined {
  if (id !== undefined && !Array.isArray(kwargs))
    return { instruction_id_list: [id], kwargs: [kwargs ?? null], mode: "constraint" };
  return ids !== undefined && Array.isArray(kwargs)
    ? { instruction_id_list: ids, kwargs, mode: "train" }
    : undefined;
}

async function promptOf(
  key: string | number | undefined,
  ids: readonly string[] | undefined,
  folder: string,
): Promise<Constraints> {
  if (key === undefined) {
    throw new HoneError(
      "HONE_ERR_DATA",
      "instruction-following case: neither constraints with kwargs nor a key",
    );
  }
  const prompts = READ.get(folder) ?? readPrompts(folder);
  READ.set(folder, prompts);
  const named = (await prompts).get(String(key)) ?? [];
  const found = named.find((prompt) => prompt.instruction_id_list.join() === ids?.join()) ?? named[0];
  if (found === undefined) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `instruction-following case: no key ${JSON.stringify(key)} in ${PROMPT_FILES.join(" or ")}`,
      { details: { folder } },
    );
  }
  return found;
}

async function readPrompts(folder: string): Promise<Prompts> {
  const texts = await Promise.all(PROMPT_FILES.map((file) => readIfThere(join(folder, file))));
  if (texts.every((text) => text === undefined)) {
    throw new HoneError("HONE_ERR_DATA", `instruction-following case: cannot read prompts in ${folder}`, {
      hint: `A case without kwargs names its prompt by key; ${PROMPT_FILES.join(" or ")} must lie beside the case file.`,
    });
  }
  const prompts = new Map<string, Constraints[]>();
  for (const [file, text] of texts.entries()) {
    for (const [index, line] of (text ?? "").split("\n").entries()) {
      if (line.trim() === "") continue;
      const { key, ...constraints } = parsePrompt(line, `${join(folder, PROMPT_FILES[file]!)}:${index + 1}`);
      prompts.set(String(key), [...(prompts.get(String(key)) ?? []), constraints]);
    }
  }
  return prompts;
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new HoneError("HONE_ERR_DATA", `instruction-following case: cannot read ${path}`, { cause: error });
  });
}

function parsePrompt(line: string, where: string): z.output<typeof promptSchema> {
  try {
    return promptSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${where}: not a prompt { key, instruction_id_list, kwargs }`, {
      cause,
    });
  }
}
