import { type ErrorCode, HoneError } from "../errors.ts";
import type { AttemptTokens } from "../native/attempt-tokens.ts";
import type { EngineOptions, GenerationRequest, ModelConfigJson } from "../native/face.ts";
import { attemptSections, attemptTokens } from "../orchestration/records/attempt-sections.ts";
import type { JobEnd, VerificationJob } from "../rewards/index.ts";
import { decodeMessage, encodeMessage, type Message, sectionOf } from "../streams/index.ts";

// Messages between coordinator and actors, one codec per kind, in the format of lib/streams/message.ts.

/** A request as stored in a stream; numbered by the coordinator, because request ids can recur. */
export interface NumberedRequest {
  readonly number: number;
  /** Oldest weight version that may sample the request's tokens. */
  readonly version: number;
  readonly request: GenerationRequest;
}

/** An engine that every actor must open. */
export interface EngineSpec {
  readonly engine: string;
  readonly config: ModelConfigJson;
  readonly options: EngineOptions;
}

/** Transport of weights: files that all processes see, or connections between sender and members. */
export type TransportKind = "folder" | "communicator";

/** Members of an update that get the weights from one sender. */
export interface TransferGroup {
  /** Number of the group's connection; a new connection has a new number. */
  readonly number: number;
  /** Sender: a trainer's rank, or an actor that already has the version (names.ts, rankName and memberName). */
  readonly sender: string;
  readonly members: readonly string[];
}

/** One transfer of weights from senders to members. */
export interface TransferPlan {
  /** Ordinal of the update in the run; a retry gets a new one. */
  readonly update: number;
  readonly engine: string;
  readonly version: number;
  readonly way: TransportKind;
  /** Milliseconds for each member's part: to join, and for each bucket. */
  readonly withinMs: number;
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
  /** Second phase: `members` sample with these weights from now on; all other actors are behind. */
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
      "only an engine of this process can follow a plan of versions",
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

/** Encodes a message of a kind; omits undefined fields. */
export function written(kind: string, header: object, sections: Message["sections"] = {}): Uint8Array {
  return encodeMessage({ kind, header: header as Message["header"], sections });
}

/** Throws HONE_ERR_FORMAT also for a message of another kind. */
export function read(bytes: Uint8Array, kind: string): Message {
  const message = decodeMessage(bytes);
  if (message.kind === kind) return message;
  throw new HoneError("HONE_ERR_FORMAT", `a message of kind "${message.kind}" where "${kind}" is expected`);
}

/** An error as sent from one process to another. */
export interface FaultText {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

export function faultText(error: unknown): FaultText {
  if (!HoneError.is(error))
    return { code: "HONE_ERR_INTERNAL", message: String((error as Error)?.message ?? error) };
  const { code, message, hint } = error;
  return { code, message, ...(hint !== undefined && { hint }) };
}

/** Reconstructs an error here. @param where the process that raised it: "actor.1#2" */
export function faultOf({ code, message, hint }: FaultText, where: string): HoneError {
  return new HoneError(code, `${where}: ${message}`, {
    details: { where },
    ...(hint !== undefined && { hint }),
  });
}

/** True for faults of the connection, not of the data: with other members the transfer may succeed. */
export const isOfTheWay = (code: ErrorCode): boolean =>
  code === "HONE_ERR_COLLECTIVE" || code === "HONE_ERR_ABORTED";

/** A job as stored in a stream. */
export interface NumberedJob {
  readonly number: number;
  /** Number of jobs that a host runs at a time. */
  readonly workers: number;
  /** Heap limit of the process that runs the job. */
  readonly heapMb: number;
  readonly job: VerificationJob;
}

/** The end of a verifier job, with its number, as the verifier host reports it. */
export interface NumberedEnd {
  readonly number: number;
  /** Name of the host: "verifier.1#2". */
  readonly by: string;
  readonly end: JobEnd;
}

type Member = VerificationJob["members"][number];
/** Index into the references, finish, text; for a Python verifier also token ids and step of a sampled completion. */
type Row = readonly [number, Member["finish"], string, Pick<Member, "ids" | "step">?];

/**
 * Writes members as JSON into an array of bytes, and a reference that several share once. Throws
 * HONE_ERR_UNSUPPORTED for a reference that JSON does not represent exactly.
 */
export function encodeJob({ number, workers, heapMb, job }: NumberedJob): Uint8Array {
  const { members, ...plain } = job;
  const references = new Map<unknown, number>();
  const rows = members.map(({ reference, text, finish, ids, step }): Row => {
    const known = references.get(reference);
    if (known === undefined && !isPlain(reference)) throw unsayable(job.verifier);
    const at = known ?? references.size;
    references.set(reference, at);
    return ids === undefined ? [at, finish, text] : [at, finish, text, { ids, step }];
  });
  const text = JSON.stringify({ references: [...references.keys()], rows });
  return written("job", { number, workers, heapMb, ...plain }, { members: Buffer.from(text, "utf8") });
}

/** Throws HONE_ERR_FORMAT. */
export function decodeJob(bytes: Uint8Array): NumberedJob {
  const message = read(bytes, "job");
  const text = Buffer.from(sectionOf(message, "members", "u8")).toString("utf8");
  const { references, rows } = JSON.parse(text) as { references: unknown[]; rows: Row[] };
  const { number, workers, heapMb, ...plain } = message.header as unknown as NumberedJob &
    Omit<VerificationJob, "members">;
  const members = rows.map(
    ([of, finish, text, sampled]): Member => ({ reference: references[of], text, finish, ...sampled }),
  );
  return { number, workers, heapMb, job: { ...plain, members } };
}

export const encodeEnd = (end: NumberedEnd): Uint8Array => written("job-end", end);

/** Throws HONE_ERR_FORMAT. */
export const decodeEnd = (bytes: Uint8Array): NumberedEnd =>
  read(bytes, "job-end").header as unknown as NumberedEnd;

/** True if JSON represents the value exactly; an absent field may be omitted. */
function isPlain(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return Array.from(value).every(isPlain);
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(value).every((field) => field === undefined || isPlain(field));
}

const unsayable = (verifier: string): HoneError =>
  new HoneError(
    "HONE_ERR_UNSUPPORTED",
    `verifier ${JSON.stringify(verifier)}: a reference cannot go to verifier hosts, since JSON does not represent it`,
    {
      hint: "Make references plain data, or judge in the run's own process: hardware.processes.verifiers: 0.",
    },
  );
