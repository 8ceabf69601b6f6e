import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";
import { parseRepr } from "../../../python/repr.ts";
import { constraintsOf } from "./named-functions.ts";

const kwargsSchema = z.record(z.string(), z.unknown());

const rowSchema = z.object({
  messages: z.array(z.object({ role: z.string().optional(), content: z.string().trim().min(1) })).min(1),
  ground_truth: z.string().min(1),
});

const truthSchema = z.tuple([
  z.object({ instruction_id: z.array(z.string().min(1)).min(1), kwargs: z.array(kwargsSchema.nullable()) }),
]);

/**
 * IF-RLVR: prompts with up to five constraints that a program can check. Absent arguments (None) are left out
 * of `kwargs`; whether a constraint has all it needs is for its verifier to say. Also reads Tülu 3's rows,
 * whose ground truth names the checking function and its arguments.
 * Source: data set cards allenai/IF_multi_constraints_upto5 and allenai/RLVR-IFeval.
 */
export const ifRlvr: RowReader<DatasetOptions> = {
  domain: "instruction-following",
  verifier: "instruction-following",
  options: {},
  samples: { file: "train.jsonl", rows: sampleRows },
  columns: ["messages", "ground_truth"],
  open({ template = "{task}" }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const literal = readTruth(row.ground_truth);
      if (isBad(literal)) return literal;
      const named = functionSchema.safeParse(literal.value);
      if (named.success) return namedDraft(row.messages.at(-1)!.content, named.data, template);
      const truth = readFields(truthSchema, literal.value, "ground_truth");
      if (isBad(truth)) return truth;
      const [{ instruction_id, kwargs }] = truth;
      return instructionDraft(row.messages[0]!.content, instruction_id, kwargs, "if-rlvr", template);
    };
  },
};

/** Tülu 3's form: one function, with the union of all functions' arguments. */
const functionSchema = z.looseObject({ func_name: z.string().min(1) });

function namedDraft(
  prompt: string,
  { func_name: name, ...given }: z.infer<typeof functionSchema>,
  template: string,
) {
  const found = constraintsOf(name, given);
  if ("leftOut" in found) return found;
  const [ids, kwargs] = [found.map(([id]) => id), found.map(([, one]) => one ?? {})];
  return instructionDraft(prompt, ids, kwargs, "tulu-3", template);
}

const evaluationSchema = z.object({
  prompt: z.string().trim().min(1),
  instruction_id_list: z.array(z.string().min(1)).min(1),
  kwargs: z.array(kwargsSchema.nullable()),
});

/**
 * IFEval and IFBench: rows for evaluation, with the kind of constraints that IF-RLVR has.
 * Source: data set cards google/IFEval and allenai/IFBench_test.
 */
export const ifEval: RowReader<DatasetOptions> = {
  domain: "instruction-following",
  verifier: "instruction-following",
  options: {},
  benchmark: true,
  open({ template = "{task}" }) {
    return ({ value }) => {
      const row = readFields(evaluationSchema, value);
      if (isBad(row)) return row;
      return instructionDraft(row.prompt, row.instruction_id_list, row.kwargs, "ifeval", template);
    };
  },
};

function instructionDraft(
  prompt: string,
  instruction_id_list: readonly string[],
  kwargs: readonly (Readonly<Record<string, unknown>> | null)[],
  family: string,
  template: string,
) {
  if (kwargs.length !== instruction_id_list.length) return { bad: "kwargs: not one for each instruction" };
  const given = kwargs.map((one) =>
    Object.fromEntries(Object.entries(one ?? {}).filter(([, argument]) => argument !== null)),
  );
  return {
    content: prompt,
    question: fill(template, prompt),
    family,
    level: instruction_id_list.length - 1,
    reference: { instruction_id_list, kwargs: given },
  };
}

/** Reads a Python literal, or JSON, or either inside a JSON string. */
function readTruth(text: string): { readonly value: unknown } | { readonly bad: string } {
  for (const parse of [JSON.parse, parseRepr]) {
    try {
      const value: unknown = parse(text);
      return typeof value === "string" && value !== text ? readTruth(value) : { value };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return { bad: "ground_truth: neither a Python literal nor JSON" };
}

function sampleRows(): unknown[] {
  return ["rivers", "clocks", "bread", "maps", "owls"].map((topic) => ({
    key: topic,
    messages: [{ role: "user", content: `Write about ${topic} in at least five words, without commas.` }],
    ground_truth:
      "[{'instruction_id': ['punctuation:no_comma', 'length_constraints:number_words'], 'kwargs': [None, {'relation': 'at least', 'num_words': 5}]}]",
  }));
}
