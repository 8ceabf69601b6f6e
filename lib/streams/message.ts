import { HoneError } from "../errors.ts";
import { crc32c } from "../shared/files/crc32c.ts";

/** Incremented when the meaning of messages changes; readers refuse other versions. */
export const MESSAGE_VERSION = 1;

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  i64: BigInt64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

export type SectionType = keyof typeof ARRAYS;
/** Section types by array class, including subclasses. */
const TYPES: ReadonlyMap<string, SectionType> = new Map(
  Object.entries(ARRAYS).map(([type, { name }]) => [name, type as SectionType]),
);
export type SectionOf<T extends SectionType> = InstanceType<(typeof ARRAYS)[T]>;
export type Section = SectionOf<SectionType>;

/** Message of a stream: a few fields and arrays. Nothing in it can be executed. */
export interface Message {
  /** Kind by which its reader decodes it. */
  readonly kind: string;
  /** Numbers are finite; integers are at most 2^53 - 1 in magnitude. Undefined fields are omitted. */
  readonly header: { readonly [key: string]: JsonValue };
  readonly sections: { readonly [name: string]: Section };
}

// magic · u16 version · u16 zero · u32 length of all · u32 CRC-32C of what follows · u32 length of the head · head:
// JSON [kind, header, [[name, type, elements], ...]] · arrays, each from a multiple of 8. Little-endian.
const MAGIC = Buffer.from("HONm", "latin1");
const AT = { version: 4, zero: 6, length: 8, crc: 12, head: 16 } as const;
const FIXED = 20;
const ALIGNMENT = 8;
const DEEPEST_HEAD = 32;

const aligned = (at: number) => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

/**
 * Encodes a message as bytes. Throws HONE_ERR_USAGE for a header that JSON cannot represent and for an array
 * of an unlisted type, HONE_ERR_DATA for a message of 4 GB.
 */
export function encodeMessage({ kind, header, sections }: Message): Uint8Array {
  const names = Object.keys(sections);
  const table = names.map((name) => [name, typeOf(name, sections[name]!), sections[name]!.length]);
  const head = Buffer.from(jsonOf([kind, header, table] as JsonValue), "utf8");
  let end = FIXED + head.length;
  for (const name of names) end = aligned(end) + sections[name]!.byteLength;
  if (end >= 2 ** 32)
    throw new HoneError("HONE_ERR_DATA", `a message "${kind}" of ${end} bytes, 4 GB at most`);
  const bytes = Buffer.alloc(end);
  bytes.set(MAGIC);
  bytes.writeUInt16LE(MESSAGE_VERSION, AT.version);
  bytes.writeUInt32LE(end, AT.length);
  bytes.writeUInt32LE(head.length, AT.head);
  bytes.set(head, FIXED);
  let at = FIXED + head.length;
  for (const name of names) {
    const { buffer, byteOffset, byteLength } = sections[name]!;
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), aligned(at));
    at = aligned(at) + byteLength;
  }
  bytes.writeUInt32LE(crc32c(bytes.subarray(AT.head)), AT.crc);
  return bytes;
}

/**
 * Decodes a message. Its arrays are copies in a single allocation.
 * Throws HONE_ERR_FORMAT for bytes that are not a message, are of another version, truncated or altered.
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkEnvelope(view);
  const headEnd = FIXED + view.readUInt32LE(AT.head);
  if (headEnd > view.length) refuse(`its head ends at byte ${headEnd} of ${view.length}`);
  const [kind, header, table] = headOf(view.subarray(FIXED, headEnd).toString("utf8"));
  const sections: Record<string, Section> = Object.create(null) as Record<string, Section>;
  // one aligned allocation for all arrays, since separate ones would burden the garbage collector
  const from = aligned(headEnd);
  const memory = new Uint8Array(view.subarray(from)).buffer;
  let end = headEnd;
  for (const [name, type, count] of table) {
    const start = aligned(end);
    end = start + count * ARRAYS[type].BYTES_PER_ELEMENT;
    if (end > view.length) refuse(`array "${name}" ends at byte ${end} of ${view.length}`);
    sections[name] = new ARRAYS[type](memory, start - from, count);
  }
  if (end !== view.length) refuse(`${view.length - end} bytes follow its last array`);
  return { kind, header, sections };
}

/** An array of a message. Throws HONE_ERR_FORMAT if it is missing or of another type. */
export function sectionOf<T extends SectionType>(
  { kind, sections }: Message,
  name: string,
  type: T,
): SectionOf<T> {
  const found = sections[name];
  if (found === undefined) refuse(`"${kind}" has no array "${name}"`);
  if (!(found instanceof ARRAYS[type])) refuse(`array "${name}" of "${kind}" is not of type ${type}`);
  return found as SectionOf<T>;
}

function checkEnvelope(view: Buffer): void {
  if (view.length < FIXED) refuse(`${view.length} bytes are fewer than the ${FIXED} of an empty one`);
  if (!view.subarray(0, MAGIC.length).equals(MAGIC))
    refuse("it does not begin with the magic bytes of a message");
  const version = view.readUInt16LE(AT.version);
  if (version !== MESSAGE_VERSION)
    refuse(`it is of version ${version}, this package reads ${MESSAGE_VERSION}`, {
      hint: "let all processes of a run have the same version of the package",
    });
  const length = view.readUInt32LE(AT.length);
  if (length !== view.length) refuse(`${view.length} bytes are here, ${length} were written`);
  if (view.readUInt16LE(AT.zero) !== 0 || view.readUInt32LE(AT.crc) !== crc32c(view.subarray(AT.head)))
    refuse("its checksum is wrong");
}

type Table = readonly (readonly [name: string, type: SectionType, elements: number])[];

function headOf(text: string): readonly [string, Message["header"], Table] {
  const head = readHead(text);
  if (!Array.isArray(head) || head.length !== 3) refuse("its head is not [kind, header, arrays]");
  const [kind, header, table] = head as JsonValue[];
  if (typeof kind !== "string" || !isObject(header) || !Array.isArray(table) || !table.every(isSection))
    refuse("its head is not [kind, header, arrays]");
  return [kind, header, table as unknown as Table];
}

const isObject = (value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isSection(row: JsonValue): boolean {
  if (!Array.isArray(row) || row.length !== 3) return false;
  const [name, type, count] = row as JsonValue[];
  const isCount = typeof count === "number" && Number.isSafeInteger(count) && count >= 0;
  return typeof name === "string" && typeof type === "string" && Object.hasOwn(ARRAYS, type) && isCount;
}

function readHead(text: string): JsonValue {
  let head: JsonValue;
  try {
    head = JSON.parse(text) as JsonValue;
  } catch (cause) {
    return refuse(`its head is not JSON: ${(cause as Error).message}`, { cause });
  }
  const fault = faultIn(head, "");
  if (fault !== undefined) refuse(`its head is not canonical JSON: ${fault}`);
  return head;
}

/** Writes a head as JSON that parses to an equal head. */
function jsonOf(head: JsonValue): string {
  const fault = faultIn(head, "");
  if (fault !== undefined) throw new HoneError("HONE_ERR_USAGE", `a message's header has ${fault}`);
  return JSON.stringify(head);
}

/** Path of a value that JSON cannot represent, that JavaScript would have rounded, or that is nested too deep. */
function faultIn(value: unknown, key: string, depth = 0): string | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return undefined;
  if (typeof value === "number") {
    const isHeld = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isHeld ? undefined : `${value} at "${key}", no number that JavaScript holds`;
  }
  if (typeof value !== "object") return `${String(value)} at "${key}"`;
  if (depth === DEEPEST_HEAD) return `a value at "${key}" nested deeper than ${DEEPEST_HEAD}`;
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name];
    if (field === undefined && !Array.isArray(value)) continue; // JSON leaves undefined out, too
    const fault = faultIn(field, name, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function typeOf(name: string, array: Section): SectionType {
  const type = TYPES.get(array?.[Symbol.toStringTag]);
  if (type !== undefined) return type;
  const types = Object.keys(ARRAYS).join(", ");
  throw new HoneError("HONE_ERR_USAGE", `array "${name}" of a message is none of ${types}`);
}

function refuse(what: string, options: { readonly hint?: string; readonly cause?: unknown } = {}): never {
  throw new HoneError("HONE_ERR_FORMAT", `not a valid message: ${what}`, options);
}
