import { HoneError } from "../../errors.ts";

const LENGTH_BYTES = 4;
/** Longer replies cannot be from our script. */
const MOST_BYTES = 1 << 28;

/** A message as reward_host.py reads it: its length in bytes, big-endian, and JSON. */
export function frame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Reads messages in the format of `frame` from chunks of any size. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** Returns the messages that are complete with this chunk. Throws HONE_ERR_FORMAT for other data. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const messages: unknown[] = [];
    for (let body = this.#take(); body !== undefined; body = this.#take()) messages.push(parsed(body));
    return messages;
  }

  #take(): Buffer | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const head = this.#joined();
    const length = head.readUInt32BE();
    if (length > MOST_BYTES) throw noFrame(`it begins with the length ${length}`);
    const end = LENGTH_BYTES + length;
    if (this.#bytes < end) return undefined;
    const rest = head.subarray(end);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return head.subarray(LENGTH_BYTES, end);
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw noFrame(JSON.stringify(body.toString("utf8", 0, 80)));
  }
}

const noFrame = (found: string): HoneError =>
  new HoneError("HONE_ERR_FORMAT", `Python wrote something that is not a reply: ${found}`, {
    hint: "python.bin must start Python with the arguments that follow it, and write nothing to stdout itself.",
  });
