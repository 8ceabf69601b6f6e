import { HoneError } from "../errors.ts";
import type { TrainerFace } from "../native/face.ts";
import {
  decodeMessage,
  encodeMessage,
  type JsonValue,
  type Message,
  type Section,
} from "../streams/index.ts";
import { type FaultText, faultText } from "./messages.ts";

/** Traits of a trainer's call that the fleet needs to know. */
interface CallTraits {
  /** The call changes the weights: later transfers send other weights than earlier ones. */
  readonly weights?: true;
  /** The call changes the trainer's state, or begins a checkpoint that is not complete yet: new ranks repeat it. */
  readonly kept?: true;
  /** New ranks repeat the call even before the checkpoint that they load. */
  readonly base?: true;
  /** The call changes nothing and gives the same result on every rank, so only rank 0 runs it. */
  readonly ofFirst?: true;
  /** The call's reply may come after the replies of later calls, which have a newer weight version. */
  readonly beside?: true;
}

/** Calls of a trainer that are forwarded to its ranks: all except `publish`. */
export const TRAINER_CALLS = {
  initialize: { weights: true, kept: true, base: true },
  loadHf: { weights: true, kept: true, base: true },
  loadAdapters: { weights: true, kept: true, base: true },
  load: { weights: true, kept: true },
  setVersion: { weights: true, kept: true },
  resetOptimizer: { kept: true, base: true },
  step: { weights: true, kept: true },
  gradientParts: { ofFirst: true },
  score: {},
  teach: {},
  teacherHead: { ofFirst: true },
  setTeacherHead: { kept: true, base: true },
  save: {},
  stage: { kept: true },
  written: { beside: true },
  saveModel: { ofFirst: true },
  gatherWeights: {},
  parameter: { ofFirst: true },
  close: { weights: true },
} as const satisfies Readonly<Record<Exclude<keyof TrainerFace, "version" | "publish">, CallTraits>>;

export type TrainerCall = keyof typeof TRAINER_CALLS;

/** Traits of a call by its name, including "open"; empty for an unknown name. */
export const traitsOf = (name: string): CallTraits =>
  name === "open"
    ? { kept: true, base: true }
    : Object.hasOwn(TRAINER_CALLS, name)
      ? TRAINER_CALLS[name as TrainerCall]
      : {};

/** A method for each call of the table, which passes its name and arguments on. */
export function forwarded(
  forward: (name: TrainerCall, args: readonly unknown[]) => Promise<unknown>,
): Pick<TrainerFace, TrainerCall> {
  const names = Object.keys(TRAINER_CALLS) as TrainerCall[];
  const methods = names.map((name) => [name, (...args: unknown[]) => forward(name, args)]);
  return Object.fromEntries(methods) as Pick<TrainerFace, TrainerCall>;
}

/** Makes a call of the table on a trainer of this process. */
export const callOn = (trainer: TrainerFace, name: TrainerCall, args: readonly unknown[]): Promise<unknown> =>
  (trainer[name] as (...all: readonly unknown[]) => Promise<unknown>).apply(trainer, [...args]);

/** A call that all ranks run, in this order. */
export interface Call {
  readonly number: number;
  /** Identifier of the trainer; a run may open several. */
  readonly trainer: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Outcome of a call on a rank. */
export interface Reply {
  readonly number: number;
  readonly rank: number;
  readonly version: number;
  readonly result?: unknown;
  readonly fault?: FaultText;
}

/** Throws HONE_ERR_UNSUPPORTED for a function among the arguments. */
export const encodeCall = (call: Call): Uint8Array => encode("call", call);
export const decodeCall = (bytes: Uint8Array): Call => decode(bytes, "call") as Call;
export const encodeReply = (reply: Reply): Uint8Array => encode("reply", reply);
export const decodeReply = (bytes: Uint8Array): Reply => decode(bytes, "reply") as Reply;

export const failed = (error: unknown): Pick<Reply, "fault"> => ({ fault: faultText(error) });

// Calls and their results as messages: numbers that JSON lacks, big integers and arrays are tagged in the header; arrays
// themselves are sections.

/** Header encoding of values that JSON lacks. */
interface Tagged {
  readonly $array?: number;
  readonly $integer?: string;
  readonly $number?: string;
}

function encode(kind: string, value: unknown): Uint8Array {
  const arrays: Section[] = [];
  const header = { value: plain(value, arrays) };
  return encodeMessage({
    kind,
    header,
    sections: Object.fromEntries(arrays.map((array, i) => [`${i}`, array])),
  });
}

function decode(bytes: Uint8Array, kind: string): unknown {
  const message = decodeMessage(bytes);
  if (message.kind === kind) return restored(message.header["value"]!, message.sections);
  throw new HoneError("HONE_ERR_FORMAT", `a message of kind "${message.kind}" where "${kind}" is expected`);
}

function plain(value: unknown, arrays: Section[]): JsonValue {
  if (ArrayBuffer.isView(value)) return { $array: arrays.push(value as Section) - 1 };
  if (typeof value === "bigint") return { $integer: String(value) };
  if (typeof value === "number" && !isPlain(value))
    return { $number: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value === "function")
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      "a function of the recipe cannot be called by another process",
      {
        hint: 'Export it from a module and name that, "./loss.ts#name", or let this process train: hardware.processes: { actors: N, trainers: 0 }.',
      },
    );
  if (Array.isArray(value)) return value.map((item) => plain(item, arrays));
  if (typeof value !== "object" || value === null) return (value ?? null) as JsonValue;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field, arrays)]));
}

/** JSON loses the sign of -0. */
const isPlain = (value: number): boolean =>
  Number.isFinite(value) &&
  !Object.is(value, -0) &&
  (!Number.isInteger(value) || Number.isSafeInteger(value));

function restored(value: JsonValue, arrays: Message["sections"]): unknown {
  if (Array.isArray(value)) return value.map((item: JsonValue) => restored(item, arrays));
  if (typeof value !== "object" || value === null) return value;
  const tagged = value as Tagged;
  if (tagged.$array !== undefined) return arrays[`${tagged.$array}`];
  if (tagged.$integer !== undefined) return BigInt(tagged.$integer);
  if (tagged.$number !== undefined) return Number(tagged.$number);
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, restored(field as JsonValue, arrays)]),
  );
}
