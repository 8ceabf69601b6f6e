import { HoneError } from "../errors.ts";
import type { JobEnd, VerificationJob } from "../rewards/index.ts";
import { sectionOf } from "../streams/index.ts";
import { read, written } from "./messages.ts";

/** A job as it lies in a stream. */
export interface NumberedJob {
  readonly number: number;
  /** So many jobs a host does at a time. */
  readonly workers: number;
  /** Limit of the heap of the process that does it. */
  readonly heapMb: number;
  readonly job: VerificationJob;
}

/** Outcome of a job, from the host that ran it. */
export interface NumberedEnd {
  readonly number: number;
  /** "verifier.1#2" */
  readonly by: string;
  readonly end: JobEnd;
}

type Member = VerificationJob["members"][number];
/** Index into the references, finish, text; for a Python verifier also token ids and step of a sampled completion. */
type Row = readonly [number, Member["finish"], string, Pick<Member, "ids" | "step">?];

/**
 * Members are JSON in an array of bytes, a reference that several have once. Throws HONE_ERR_UNSUPPORTED for a reference that
 * JSON does not say as it is.
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

/** True if JSON encodes the value exactly and readers need nothing else; an absent field may be left out. */
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
    `verifier ${JSON.stringify(verifier)}: a reference holds what JSON does not say, and verifier hosts are sent JSON`,
    {
      hint: "Let references be plain data, or judge in the run's own process: hardware.processes.verifiers: 0.",
    },
  );
