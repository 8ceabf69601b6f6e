import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A judge's reply. */
export interface JudgeReply {
  readonly text: string;
  /** Tokens of the question and the reply. */
  readonly tokens: number;
}

/**
 * Caches replies by a hash of the whole request, one file each, so that runs can share a folder concurrently;
 * identical requests in progress are sent once.
 */
export class JudgeCache {
  readonly #folder: string | undefined;
  readonly #pending = new Map<string, Promise<JudgeReply>>();

  /** @param folder undefined: only requests in progress are shared */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /**
   * The reply to a request, and whether it was cached. Rejects as `ask` does.
   * @param isWorth decides whether a reply is cached: one without a verdict would never be asked again
   */
  async reply(
    request: unknown,
    ask: () => Promise<JudgeReply>,
    isWorth: (reply: JudgeReply) => boolean = () => true,
  ): Promise<{ readonly reply: JudgeReply; readonly isCached: boolean }> {
    const key = createHash("sha256").update(JSON.stringify(request)).digest("hex");
    const running = this.#pending.get(key);
    if (running !== undefined) return { reply: await running, isCached: true };
    let isCached = true;
    const work = this.#kept(key).then((kept) => {
      if (kept !== undefined) return kept;
      isCached = false;
      return ask().then((reply) => (isWorth(reply) ? this.#keep(key, reply) : reply));
    });
    this.#pending.set(key, work);
    try {
      const reply = await work;
      return { reply, isCached };
    } finally {
      this.#pending.delete(key);
    }
  }

  async #kept(key: string): Promise<JudgeReply | undefined> {
    if (this.#folder === undefined) return undefined;
    try {
      const kept = JSON.parse(await readFile(pathOf(this.#folder, key), "utf8")) as Partial<JudgeReply>;
      return typeof kept.text === "string" && typeof kept.tokens === "number"
        ? (kept as JudgeReply)
        : undefined;
    } catch {
      return undefined; // the file is absent or damaged, so the server is asked again
    }
  }

  /** Writes a reply completely or not at all. A full disk disables the cache but not the verdict. */
  async #keep(key: string, reply: JudgeReply): Promise<JudgeReply> {
    if (this.#folder === undefined) return reply;
    const path = pathOf(this.#folder, key);
    const part = `${path}.${randomUUID()}`;
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(part, JSON.stringify(reply));
      await rename(part, path);
    } catch {
      // the reply could not be stored, so the next run asks the server again
    }
    return reply;
  }
}

const pathOf = (folder: string, key: string): string => join(folder, key.slice(0, 2), `${key.slice(2)}.json`);
