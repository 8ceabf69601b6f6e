import { HoneError } from "../errors.ts";
import type { AttemptTokens } from "../native/attempt-tokens.ts";
import type {
  EngineMessage,
  EngineOptions,
  EngineStats,
  GenerationRequest,
  ModelConfigJson,
} from "../native/face.ts";
import type { Completion } from "../native/generations.ts";
import { attemptSections, attemptTokens } from "../orchestration/records/attempt-sections.ts";
import { decodeMessage, encodeMessage, type Message, sectionOf } from "../streams/index.ts";
import type { FaultText } from "./fault-text.ts";
import { engineMessageOf, wordsOf } from "./outcome-words.ts";

// Messages between coordinator and actors, one codec a kind. All of them are bytes of lib/streams/message.ts.

/** A request as it lies in a stream: numbered by the coordinator, because ids of requests come again. */
export interface NumberedRequest {
  readonly number: number;
  /** No token of it may be sampled by older weights. */
  readonly version: number;
  readonly request: GenerationRequest;
}

/** Outcome of a request, from the actor that had it. */
export type Outcome =
  | { readonly number: number; readonly by: Sender; readonly completions: readonly Completion[] }
  | { readonly number: number; readonly by: Sender; readonly fault: FaultText }
  /** It took several actors with it: it is given up. */
  | { readonly number: number; readonly by: Sender; readonly poison: true };

export interface Sender {
  /** "actor.1#2": the second process that was actor 1. */
  readonly member: string;
  /** Engine statistics; only the last of several outcomes sent together has them. */
  readonly stats?: EngineStats;
}

/** An engine that every actor shall have. */
export interface EngineSpec {
  readonly engine: string;
  readonly config: ModelConfigJson;
  readonly options: EngineOptions;
}

/** Transport of weights: files that all processes see, or connections between sender and members. */
export type TransportKind = "folder" | "communicator";

/** Members of an update that get it from one sender. */
export interface TransferGroup {
  /** Number of the group's connection; a new connection has a new number. */
  readonly number: number;
  /** Sender: a trainer's rank, or an actor that already has the version (names.ts, rankName and memberName). */
  readonly sender: string;
  readonly members: readonly string[];
}

/** Weights on their way. */
export interface TransferPlan {
  /** Ordinal of the update in the run; a repetition has one of its own. */
  readonly update: number;
  readonly engine: string;
  readonly version: number;
  readonly way: TransportKind;
  readonly groups: readonly TransferGroup[];
}

export const membersOf = ({ groups }: TransferPlan): string[] => groups.flatMap(({ members }) => members);

/** Messages from the coordinator to all actors, in order. */
export type Control =
  | ({ readonly kind: "open" } & EngineSpec)
  | { readonly kind: "close"; readonly engine: string }
  | { readonly kind: "abort"; readonly engine: string; readonly request: number }
  /** First phase of an update: actors receive the weights and do not use them yet. */
  | ({ readonly kind: "update" } & TransferPlan)
  /** The second: `members` sample with them from here on, everyone else lags. */
  | {
      readonly kind: "commit";
      readonly update: number;
      readonly engine: string;
      readonly version: number;
      readonly members: readonly string[];
    };

/** An actor's answer to an update: the weights are whole and checked, or why they are not. */
export interface Answer {
  readonly update: number;
  readonly member: string;
  readonly fault?: FaultText;
}

export function encodeRequest({ number, version, request }: NumberedRequest): Uint8Array {
  const { prompt, seeds, plan, begun, ...plain } = request;
  if (plan !== undefined)
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      "a plan of versions is followed by an engine of this process",
    );
  const header = { number, version, ...plain, ...(seeds && { seeds: seeds.map(String) }) };
  return written("request", header, {
    prompt: new Int32Array(prompt),
    ...(begun && attemptSections(begun)),
  });
}

export function decodeRequest(bytes: Uint8Array): NumberedRequest {
  const message = read(bytes, "request");
  const { number, version, seeds, ...plain } = message.header as unknown as Omit<
    GenerationRequest,
    "seeds"
  > & {
    readonly number: number;
    readonly version: number;
    readonly seeds?: readonly string[];
  };
  const begun = attemptTokens(message);
  const prompt = sectionOf(message, "prompt", "i32");
  const request = { ...plain, prompt, ...(begun.length > 0 && { begun }) };
  return { number, version, request: seeds ? { ...request, seeds: seeds.map(BigInt) } : request };
}

/** Tokens of a request that its actor sampled since the last note. */
export interface Note {
  readonly number: number;
  readonly tokens: readonly AttemptTokens[];
}

export const encodeNote = ({ number, tokens }: Note): Uint8Array =>
  written("note", { number }, attemptSections(tokens));

export function decodeNote(bytes: Uint8Array): Note {
  const message = read(bytes, "note");
  return { number: Number(message.header["number"]), tokens: attemptTokens(message) };
}

export function encodeOutcome(outcome: Outcome): Uint8Array {
  if (!("completions" in outcome)) return written("outcome", { ...outcome });
  const { completions, ...header } = outcome;
  return written(
    "outcome",
    { ...header, attempts: completions.length },
    { completions: wordsOf(completions) },
  );
}

/** Outcome of a request as an engine would report it, except for the request's id, which is always 0. */
export type DecodedOutcome =
  | { readonly number: number; readonly by: Sender; readonly message: EngineMessage }
  | Exclude<Outcome, { readonly completions: unknown }>;

export function decodeOutcome(bytes: Uint8Array): DecodedOutcome {
  const outcome = read(bytes, "outcome");
  if (!Object.hasOwn(outcome.sections, "completions"))
    return outcome.header as unknown as Exclude<Outcome, { completions: unknown }>;
  const { number, by, attempts } = outcome.header as unknown as {
    number: number;
    by: Sender;
    attempts: number;
  };
  return { number, by, message: engineMessageOf(sectionOf(outcome, "completions", "i32"), attempts) };
}

export function encodeControl(control: Control): Uint8Array {
  if (control.kind !== "open") return written("control", { ...control });
  const { options, ...rest } = control;
  const { runSeed, tokenBytes, ...plain } = options;
  const header = { ...rest, options: { ...plain, runSeed: String(runSeed) } };
  if (tokenBytes === undefined) return written("control", header);
  return written("control", header, {
    tokenLengths: Int32Array.from(tokenBytes, (bytes) => bytes.length),
    tokenBytes: Uint8Array.from(Buffer.concat(tokenBytes)),
  });
}

export function decodeControl(bytes: Uint8Array): Control {
  const message = read(bytes, "control");
  const control = message.header as unknown as Control;
  if (control.kind !== "open") return control;
  const { runSeed, ...plain } = control.options as unknown as Omit<EngineOptions, "runSeed"> & {
    runSeed: string;
  };
  const options = { ...plain, runSeed: BigInt(runSeed) };
  if (!Object.hasOwn(message.sections, "tokenBytes")) return { ...control, options };
  const all = sectionOf(message, "tokenBytes", "u8");
  let at = 0;
  const tokenBytes = Array.from(sectionOf(message, "tokenLengths", "i32"), (length) => {
    at += length;
    return all.slice(at - length, at);
  });
  return { ...control, options: { ...options, tokenBytes } };
}

export const encodeAnswer = ({ update, member, fault }: Answer): Uint8Array =>
  written("answer", { update, member, ...(fault && { fault }) });

export const decodeAnswer = (bytes: Uint8Array): Answer => read(bytes, "answer").header as unknown as Answer;

/** A message of a kind; fields that are undefined are left out. */
export function written(kind: string, header: object, sections: Message["sections"] = {}): Uint8Array {
  return encodeMessage({ kind, header: header as Message["header"], sections });
}

/** Throws HONE_ERR_FORMAT also for a message of another kind. */
export function read(bytes: Uint8Array, kind: string): Message {
  const message = decodeMessage(bytes);
  if (message.kind === kind) return message;
  throw new HoneError("HONE_ERR_FORMAT", `a message of kind "${message.kind}" where "${kind}" is expected`);
}
