import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { fileWork } from "../../metrics/index.ts";
import { type AttemptTokens, firstTokens, joinedTokens } from "../../native/attempt-tokens.ts";
import { REWRITING } from "../../shared/files/plain-file.ts";
import { decodeMessage, encodeMessage, type Message } from "../../streams/index.ts";
import type { DrawnGroup, GroupRequest, UnfinishedGroups } from "../pipeline/index.ts";
import { attemptSections, attemptTokens } from "./attempt-sections.ts";

/** Bytes of the length before each message. */
const PREFIX = 4;

interface Place {
  readonly at: number;
  readonly bytes: number;
}

/** A file of messages, and the byte ranges of each group's messages. */
interface Messages {
  readonly fd: number;
  size: number;
  readonly places: Map<number, Place[]>;
}

/** Header of a message about a group. */
interface Head {
  readonly group: number;
  readonly problem: number;
  /** Weight version when the group was submitted. */
  readonly version: number;
  /** True for a group's first message, which makes the group's earlier messages void. */
  readonly first?: true;
}

/**
 * Tokens of a run's groups in progress, in an append-only file of checksummed messages; each checkpoint compacts it
 * to the groups still in progress. Written messages survive the process; a torn end is ignored.
 */
export class UnfinishedRollouts implements UnfinishedGroups, Disposable {
  readonly everyTokens: number;
  readonly #path: string;
  readonly #recipe: string;
  #file: Messages;
  #closed = false;
  /** Groups that this session wrote or resumed. */
  readonly #known = new Set<number>();

  /**
   * Undefined if the recipe does not record unfinished rollouts. @param version of the weights of a resumed run:
   * keeps existing tokens sampled by these or older weights under exactly the same recipe; absent for a new run.
   * Throws HONE_ERR_IO.
   */
  static open(path: string, recipe: Recipe, version?: number): UnfinishedRollouts | undefined {
    if (recipe.rollouts.recordEveryTokens === 0) return undefined;
    return new UnfinishedRollouts(path, recipe, version);
  }

  private constructor(path: string, recipe: Recipe, version: number | undefined) {
    this.everyTokens = recipe.rollouts.recordEveryTokens;
    this.#path = path;
    this.#recipe = createHash("sha256").update(JSON.stringify(recipe)).digest("hex");
    fileWork(path, () => mkdirSync(dirname(path), { recursive: true }));
    const before = version !== undefined && existsSync(path) ? openSync(path, "r") : undefined;
    this.#file = this.#anew(before === undefined ? [] : kept(before, this.#recipe, version!));
    if (before !== undefined) closeSync(before);
  }

  of({
    group,
    problem,
  }: DrawnGroup): { readonly begun: AttemptTokens[]; readonly version: number } | undefined {
    const { fd, places } = this.#file;
    const read = (place: Place) => decodeMessage(fileWork(this.#path, () => bytesAt(fd, place)));
    const messages = (places.get(group) ?? []).map(read);
    const head = messages[0] && headOf(messages[0]);
    if (head === undefined || head.problem !== problem.id) return undefined;
    const begun = messages.reduce<AttemptTokens[]>((all, each) => joinedTokens(all, attemptTokens(each)), []);
    const some = begun.filter(({ tokens }) => tokens.length > 0);
    return some.length === 0 ? undefined : { begun: some, version: head.version };
  }

  /**
   * Writes nothing once disposed: the engine of an abandoned stalled run may continue, and the descriptor may
   * belong to another file by then. Throws HONE_ERR_IO naming the file if the disk is full or the file was
   * deleted.
   */
  add({ group, problem, submittedVersion, begun }: GroupRequest, tokens: readonly AttemptTokens[]): void {
    if (this.#closed) return;
    const begins = !this.#known.has(group) && begun === undefined;
    this.#known.add(group);
    const head = { group, problem: problem.id, version: submittedVersion, ...(begins && { first: true }) };
    this.#append(this.#file, { kind: "unfinished", header: head, sections: attemptSections(tokens) });
  }

  /** Drops the groups that are no longer in progress and frees their space; does nothing once disposed. Throws HONE_ERR_IO. */
  retain(isUnderWay: (group: number) => boolean): void {
    if (this.#closed) return;
    const { fd, places } = this.#file;
    const gone = [...places.keys()].filter((group) => !isUnderWay(group));
    if (gone.length === 0) return;
    const left = [...places].filter(([group]) => isUnderWay(group)).flatMap(([, each]) => each);
    this.#file = this.#anew(messagesAt(fd, left));
    for (const group of gone) this.#known.delete(group);
    closeSync(fd);
  }

  /** Size of the file in bytes. */
  get size(): number {
    return this.#file.size;
  }

  [Symbol.dispose](): void {
    if (!this.#closed) closeSync(this.#file.fd);
    this.#closed = true;
  }

  /** Replaces the file by one with these messages. Keeps the old file if the new one cannot be written. */
  #anew(messages: Iterable<Message>): Messages {
    const next = `${this.#path}.tmp`;
    const fd = fileWork(this.#path, () => openSync(next, REWRITING));
    const file: Messages = { fd, size: 0, places: new Map() };
    try {
      this.#append(file, { kind: "recipe", header: { recipe: this.#recipe }, sections: {} });
      for (const message of messages) this.#append(file, message);
      fileWork(this.#path, () => renameSync(next, this.#path));
      return file;
    } catch (error) {
      closeSync(fd);
      rmSync(next, { force: true });
      throw error;
    }
  }

  #append(file: Messages, message: Message): void {
    const bytes = framed(message);
    const place = { at: file.size, bytes: bytes.length };
    fileWork(this.#path, () => {
      if (fstatSync(file.fd).nlink === 0) throw new Error("it was deleted during the run");
      for (let n = 0; n < bytes.length; ) n += writeSync(file.fd, bytes, n, bytes.length - n, place.at + n);
    });
    file.size += bytes.length;
    if (message.kind === "recipe") return;
    const { group, first } = headOf(message);
    file.places.set(group, [...((first ? undefined : file.places.get(group)) ?? []), place]);
  }
}

const headOf = ({ header }: Message): Head => header as unknown as Head;

function framed(message: Message): Uint8Array {
  const payload = encodeMessage(message);
  const bytes = Buffer.alloc(PREFIX + payload.length);
  bytes.writeUInt32LE(payload.length);
  bytes.set(payload, PREFIX);
  return bytes;
}

/** Reads the message at a place, without its length prefix. */
function bytesAt(fd: number, { at, bytes }: Place): Uint8Array {
  const read = Buffer.alloc(bytes - PREFIX);
  for (let n = 0; n < read.length; ) {
    const more = readSync(fd, read, n, read.length - n, at + PREFIX + n);
    if (more === 0) throw new HoneError("HONE_ERR_FORMAT", "the file ends within a message");
    n += more;
  }
  return read;
}

function* messagesAt(fd: number, places: readonly Place[]): Generator<Message> {
  for (const place of places) yield decodeMessage(bytesAt(fd, place));
}

/** The file's messages that a run resumed from weights `version` can use: none if another recipe wrote them. */
function* kept(fd: number, recipe: string, version: number): Generator<Message> {
  const messages = messagesOf(fd);
  const first = messages.next();
  if (first.done || first.value.kind !== "recipe" || first.value.header["recipe"] !== recipe) return;
  for (const message of messages) {
    const head = headOf(message);
    if (head.version > version) continue;
    const tokens = attemptTokens(message).map((each) => {
      const later = each.versions.findIndex((v) => v > version);
      return later < 0 ? each : firstTokens(each, later);
    });
    yield { ...message, sections: attemptSections(tokens) };
  }
}

/** Messages up to the first torn or damaged one. */
function* messagesOf(fd: number): Generator<Message> {
  const { size } = fstatSync(fd);
  const prefix = Buffer.alloc(PREFIX);
  for (let at = 0; at + PREFIX <= size; ) {
    readSync(fd, prefix, 0, PREFIX, at);
    const bytes = PREFIX + prefix.readUInt32LE();
    if (at + bytes > size) return;
    const message = readable(bytesAt(fd, { at, bytes }));
    if (message === undefined) return;
    yield message;
    at += bytes;
  }
}

function readable(bytes: Uint8Array): Message | undefined {
  try {
    return decodeMessage(bytes);
  } catch {
    return undefined;
  }
}
