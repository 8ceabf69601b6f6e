import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { fileWork } from "../../metrics/index.ts";
import { type AttemptTokens, firstTokens, joinedTokens } from "../../native/attempt-tokens.ts";
import { decodeMessage, encodeMessage, type Message } from "../../streams/index.ts";
import type { DrawnGroup, GroupRequest, UnfinishedGroups } from "../line/index.ts";
import { attemptSections, attemptTokens } from "./attempt-sections.ts";

/** Before each message, its length. */
const PREFIX = 4;

interface Place {
  readonly at: number;
  readonly bytes: number;
}

/** Of a message about a group. */
interface Head {
  readonly group: number;
  readonly problem: number;
  /** Weight version when the group was submitted. */
  readonly version: number;
  /** It begins here: what came before is void. */
  readonly first?: true;
}

/**
 * What a run has of its groups under way, in a file of messages with checksums that only grows until the next checkpoint
 * and then keeps what is still under way. What is written survives the process; a torn end is left out.
 */
export class UnfinishedRollouts implements UnfinishedGroups, Disposable {
  readonly everyTokens: number;
  readonly #path: string;
  readonly #recipe: string;
  #fd: number;
  #size = 0;
  readonly #places = new Map<number, Place[]>();
  /** Groups that this sitting wrote of, or went on with. */
  readonly #known = new Set<number>();

  /**
   * Undefined where the recipe wants none. @param version of the weights that a run goes on from: of what is there, tokens
   * that they or older ones sampled are kept, if it is of this very recipe; absent for a new run. Throws HONE_ERR_IO.
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
    this.#fd = this.#anew(() => {
      for (const message of before === undefined ? [] : kept(before, this.#recipe, version!))
        this.#append(message);
    });
    if (before !== undefined) closeSync(before);
  }

  of({
    group,
    problem,
  }: DrawnGroup): { readonly begun: AttemptTokens[]; readonly version: number } | undefined {
    const messages = (this.#places.get(group) ?? []).map((place) => decodeMessage(this.#bytesAt(place)));
    const head = messages[0] && headOf(messages[0]);
    if (head === undefined || head.problem !== problem.id) return undefined;
    const begun = messages.reduce<AttemptTokens[]>((all, each) => joinedTokens(all, attemptTokens(each)), []);
    const some = begun.filter(({ tokens }) => tokens.length > 0);
    return some.length === 0 ? undefined : { begun: some, version: head.version };
  }

  /** Throws HONE_ERR_IO naming the file: no room, or it was deleted under way. */
  add({ group, problem, submittedVersion, begun }: GroupRequest, tokens: readonly AttemptTokens[]): void {
    const begins = !this.#known.has(group) && begun === undefined;
    this.#known.add(group);
    const head = { group, problem: problem.id, version: submittedVersion, ...(begins && { first: true }) };
    this.#append({ kind: "unfinished", header: head, sections: attemptSections(tokens) });
  }

  /** Forgets the other groups, and gives their room back. Throws HONE_ERR_IO. */
  retain(isUnderWay: (group: number) => boolean): void {
    const gone = [...this.#places.keys()].filter((group) => !isUnderWay(group));
    if (gone.length === 0) return;
    for (const group of gone) this.#known.delete(group);
    const left = [...this.#places].filter(([group]) => isUnderWay(group)).flatMap(([, places]) => places);
    const before = this.#fd;
    this.#fd = this.#anew(() => {
      for (const place of left) this.#append(decodeMessage(bytesAt(before, place)));
    });
    closeSync(before);
  }

  /** Bytes that the file has. */
  get size(): number {
    return this.#size;
  }

  [Symbol.dispose](): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  /** A file in place of the one that is there, once `write` has filled it. */
  #anew(write: () => void): number {
    const next = `${this.#path}.tmp`;
    return fileWork(this.#path, () => {
      const fd = openSync(next, "w+");
      this.#fd = fd;
      this.#size = 0;
      this.#places.clear();
      this.#append({ kind: "recipe", header: { recipe: this.#recipe }, sections: {} });
      write();
      renameSync(next, this.#path);
      return fd;
    });
  }

  #append(message: Message): void {
    const bytes = framed(message);
    const place = { at: this.#size, bytes: bytes.length };
    fileWork(this.#path, () => {
      if (fstatSync(this.#fd).nlink === 0) throw new Error("it was deleted while the run went on");
      for (let n = 0; n < bytes.length; ) n += writeSync(this.#fd, bytes, n, bytes.length - n, place.at + n);
    });
    this.#size += bytes.length;
    if (message.kind === "recipe") return;
    const { group, first } = headOf(message);
    if (first) this.#places.delete(group);
    this.#places.set(group, [...(this.#places.get(group) ?? []), place]);
  }

  #bytesAt(place: Place): Uint8Array {
    return fileWork(this.#path, () => bytesAt(this.#fd, place));
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

/** The message there, without its prefix. */
function bytesAt(fd: number, { at, bytes }: Place): Uint8Array {
  const read = Buffer.alloc(bytes - PREFIX);
  for (let n = 0; n < read.length; ) {
    const more = readSync(fd, read, n, read.length - n, at + PREFIX + n);
    if (more === 0) throw new HoneError("HONE_ERR_FORMAT", "the file ends within a message");
    n += more;
  }
  return read;
}

/** What the messages of a file still say where a run goes on from weights `version`; none of another recipe. */
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

/** Up to the first that is torn or damaged. */
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
