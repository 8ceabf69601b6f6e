import type { Socket } from "node:net";
import { HoneError } from "../../errors.ts";

/** Longer frames are refused before they are sent, so a longer length was not sent by this package. */
const LONGEST_FRAME = 2 ** 30;
const PREFIX = 4;

// u32 length of the rest · u32 length of the head · head: JSON with each payload replaced by its length · the
// payloads one after the other. Numbers are little-endian.

/** Encodes a message as bytes to be written in sequence, without copying payloads. Throws HONE_ERR_DATA for more than 1 GiB. */
export function encodeFrame(message: unknown): Uint8Array[] {
  const payloads: Uint8Array[] = [];
  const head = JSON.stringify(
    withPayloads(
      message,
      (payload) => payloads.push(payload as Uint8Array) && (payload as Uint8Array).length,
    ),
  );
  const headLength = Buffer.byteLength(head);
  const length = payloads.reduce((sum, payload) => sum + payload.length, PREFIX + headLength);
  if (length > LONGEST_FRAME)
    throw new HoneError("HONE_ERR_DATA", `${length} bytes at once for a stream store, at most 1 GiB`, {
      hint: "Ask for fewer entries at a time, or append smaller ones.",
    });
  const first = Buffer.allocUnsafe(2 * PREFIX + headLength);
  first.writeUInt32LE(length);
  first.writeUInt32LE(headLength, PREFIX);
  first.write(head, 2 * PREFIX);
  return [first, ...payloads.filter((payload) => payload.length > 0)];
}

/**
 * Sends a message; batches those of one turn of the event loop into one write. Throws the errors of encodeFrame, and
 * then sends nothing.
 */
export function sendFrame(socket: Socket, message: unknown): void {
  const parts = encodeFrame(message);
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  for (const part of parts) socket.write(part);
}

/** Cuts a stream of bytes into messages. A payload is a view of its message's own memory. */
export class FrameReader {
  readonly #length = new Uint8Array(PREFIX);
  /** Undefined while the length is being read. */
  #frame: Uint8Array | undefined;
  #filled = 0;

  /** Yields messages completed by `chunk`. Throws HONE_ERR_FORMAT for an invalid frame; nothing after it can be read. */
  *read(chunk: Uint8Array): Generator<unknown> {
    for (let at = 0; at < chunk.length; ) {
      const target = this.#frame ?? this.#length;
      const part = chunk.subarray(at, at + target.length - this.#filled);
      target.set(part, this.#filled);
      at += part.length;
      this.#filled += part.length;
      if (this.#filled < target.length) return;
      this.#filled = 0;
      this.#frame = this.#frame === undefined ? frameOf(this.#length) : undefined;
      if (target !== this.#length) yield decode(target);
    }
  }
}

function frameOf(prefix: Uint8Array): Uint8Array {
  const length = new DataView(prefix.buffer).getUint32(0, true);
  if (length < PREFIX || length > LONGEST_FRAME) throw malformed(`its length is ${length}`);
  return new Uint8Array(length);
}

function decode(frame: Uint8Array): unknown {
  const bytes = Buffer.from(frame.buffer);
  let at = PREFIX + bytes.readUInt32LE(0);
  if (at > bytes.length) throw malformed(`its head has ${at - PREFIX} bytes, the message ${bytes.length}`);
  let head: unknown;
  try {
    head = JSON.parse(bytes.toString("utf8", PREFIX, at));
  } catch (cause) {
    throw malformed((cause as Error).message, cause);
  }
  const message = withPayloads(head, (length) => {
    const from = at;
    at += Number(length);
    if (!(at >= from && at <= frame.length)) throw malformed(`it names a payload of ${length} bytes`);
    return frame.subarray(from, at);
  });
  if (at !== frame.length) throw malformed(`${frame.length - at} bytes follow its payloads`);
  return message;
}

type Fields = Readonly<Record<string, unknown>>;

/** A copy with other payloads, wherever the arguments and results of driver.ts have them. */
function withPayloads(value: unknown, of: (payload: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withPayloads(each, of));
  if (typeof value !== "object" || value === null) return value;
  const { payload, out, leases } = value as Fields;
  return {
    ...value,
    ...(payload !== undefined && { payload: of(payload) }),
    ...(out !== undefined && { out: withPayloads(out, of) }),
    ...(leases !== undefined && { leases: withPayloads(leases, of) }),
  };
}

const malformed = (what: string, cause?: unknown): HoneError =>
  new HoneError("HONE_ERR_FORMAT", `not a valid message on the stream store's socket: ${what}`, { cause });
