import { withoutEndTokens } from "../../domains/end-tokens.ts";
import { rewardedReference } from "../../domains/reward.ts";
import type { ChatMessage } from "../../records.ts";
import type { PythonCall } from "./python-call.ts";

/** A completion to be rated, as a job has it. */
export interface RatedMember {
  readonly reference: unknown;
  readonly text: string;
  /** Token ids, if the completion was sampled by this run. */
  readonly ids?: readonly number[] | undefined;
  /** Number of optimizer steps that the weights which sampled the completion had been trained for. */
  readonly step?: number | undefined;
}

/** Completion as sent to reward_host.py. */
export interface PythonMember {
  readonly prompt: string | readonly ChatMessage[];
  readonly completion: string;
  readonly isConversation: boolean;
  /** Columns of the row for TRL's signature. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** Arguments of verl's signature. */
  readonly verl: Readonly<Record<string, unknown>>;
  readonly ids?: readonly number[] | undefined;
  readonly step?: number | undefined;
}

/** Keywords that TRL passes to every reward function; a data column with one of these names is omitted. */
const GIVEN = ["prompt", "prompts", "completion", "completions", "completion_ids"];

/** The arguments of either signature. Throws HONE_ERR_DATA for a reference that is not a rewarded problem's. */
export function pythonMember(
  { reference: raw, text, ids, step }: RatedMember,
  call: PythonCall,
): PythonMember {
  const { prompt: question, messages, columns = {}, verifier, reference } = rewardedReference(raw);
  const isConversation = (call.completions ?? (messages === undefined ? "text" : "messages")) === "messages";
  const turns = messages ?? [{ role: "user", content: question }];
  const completion = withoutEndTokens(text);
  const fields = { ...fieldsOf(reference), ...columns };
  return {
    prompt: isConversation ? turns : question,
    completion,
    isConversation,
    columns: columnsOf(reference, fields),
    verl: {
      data_source: fields["data_source"] ?? verifier,
      solution_str: completion,
      ground_truth: groundTruth(reference, fields),
      extra_info: fields["extra_info"] ?? {},
    },
    ids,
    step,
  };
}

const fieldsOf = (reference: unknown): Readonly<Record<string, unknown>> =>
  typeof reference === "object" && reference !== null && !Array.isArray(reference)
    ? (reference as Record<string, unknown>)
    : {};

/** The row's columns, the fields of a reference that is an object, and the whole reference as `reference`. */
function columnsOf(reference: unknown, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = Object.entries(fields).filter(([name]) => !GIVEN.includes(name));
  return { ...(reference !== undefined && { reference }), ...Object.fromEntries(own) };
}

function groundTruth(reference: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  const model = fieldsOf(fields["reward_model"]);
  const found = fields["ground_truth"] ?? model["ground_truth"] ?? fields["answer"] ?? fields["solution"];
  return found ?? reference;
}
