import { createHash, randomUUID } from "node:crypto";
import { HoneError } from "../../errors.ts";
import { deferred } from "../../shared/async/deferred.ts";
import type { Arguments, Driver, Fence, OperationName, Result } from "../driver.ts";
import { fencedBy, heldBy, type Refusal, StreamError } from "../stream-error.ts";
import { type Argument, CALLS, type Reply } from "./calls.ts";
import { type RedisClient, RedisConnections } from "./connection.ts";
import { OPEN, SCRIPTS } from "./scripts.ts";

/**
 * Time for which an operation waits for a lost server; after one timed out, the limit of each later one.
 * Milliseconds.
 */
const PATIENCE_MS = 60_000;
const IMPATIENCE_MS = 1_000;
/** Time limit of each deletion at the end of a run, so that a lost server does not delay the exit. Milliseconds. */
const LAST_MS = 3_000;
/** Number of keys that one call of SCAN examines. */
const SCANNED = "1000";

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const DIGESTS = Object.fromEntries(Object.entries(SCRIPTS).map(([name, lua]) => [name, sha1(lua)]));

/** Streams of a run on a Redis or Valkey server. */
export class RedisDriver implements Driver {
  /**
   * Notifications use a separate connection; polling at these intervals covers notifications lost when it
   * breaks.
   */
  readonly pauseMs = { first: 100, most: 500 };
  readonly #run: string;
  readonly #id: string;
  readonly #commands: RedisClient;
  readonly #news: RedisClient;
  readonly #patienceMs: number;
  /** Limit of the next operation: operations started together end about when the first does. */
  #waitMs: number;
  /** Functions that end the waits for an answer. */
  readonly #ends = new Set<(why: Error) => void>();
  #isClosed = false;

  private constructor(
    [run, id]: readonly [string, string],
    [commands, news]: readonly [RedisClient, RedisClient],
    patienceMs: number,
  ) {
    this.#run = run;
    this.#id = id;
    this.#patienceMs = this.#waitMs = patienceMs;
    this.#commands = commands;
    this.#news = news;
  }

  /** Rejects with StreamError "lost" if the run must exist and does not, HONE_ERR_IO, HONE_ERR_USAGE. */
  static async open(
    url: string,
    run: string,
    mustExist: boolean,
    patienceMs = PATIENCE_MS,
  ): Promise<RedisDriver> {
    const connections = await RedisConnections.to(url);
    const commands = await connections.connect();
    let news: RedisClient | undefined;
    try {
      if (connections.address.mustKeep) checkKeeps(String(await commands.callBuffer("INFO")));
      const wanted = [keyOf(run, "id"), randomUUID(), mustExist ? "1" : "0"];
      const id = await commands.callBuffer("EVAL", OPEN, "1", ...wanted);
      if (id === null)
        throw new StreamError({ why: "lost", about: run, found: "the server has nothing of it" });
      news = await connections.connect();
      await news.subscribe(keyOf(run, "news"));
      return new RedisDriver([run, String(id)], [commands, news], patienceMs);
    } catch (error) {
      commands.disconnect();
      news?.disconnect();
      throw error;
    }
  }

  async run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>> {
    const fenced = [fence?.key ?? "", fence?.value ?? ""];
    const head = [keyOf(this.#run, "id"), this.#id, ...fenced, randomUUID(), this.#run];
    const reply = await this.#patiently(this.#script(name, [...head, ...CALLS[name].ask(args)]));
    const [mark, ...rest] = reply as readonly Reply[];
    if (String(mark) === "!") throw new StreamError(refusalOf(rest, fence));
    return CALLS[name].answer(rest);
  }

  onNews(listener: (topic: string | undefined) => void): void {
    this.#news.on("message", (_, topic) => listener(topic));
    this.#news.on("ready", () => listener(undefined));
  }

  /** Deletes the run's keys in small batches, so that a shared server is not blocked. */
  async forget(): Promise<void> {
    const pattern = keyOf(this.#run, "*"); // run names contain no pattern characters
    const waitMs = Math.min(LAST_MS, this.#waitMs);
    let cursor = "0";
    do {
      const scanned = this.#commands.callBuffer("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED);
      const found = await this.#patiently(scanned, waitMs);
      const [next, keys] = found as readonly [Reply, readonly Argument[]];
      if (keys.length > 0) await this.#patiently(this.#commands.callBuffer("UNLINK", ...keys), waitMs);
      cursor = String(next);
    } while (cursor !== "0");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#commands.disconnect();
    this.#news.disconnect();
    for (const end of this.#ends) end(new Error("the store was closed before an answer came")); // otherwise ioredis would keep commands of a lost connection pending
  }

  async #script(name: OperationName, args: readonly Argument[]): Promise<Reply> {
    try {
      return await this.#commands.callBuffer("EVALSHA", DIGESTS[name]!, "1", ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return this.#commands.callBuffer("EVAL", SCRIPTS[name], "1", ...args);
    }
  }

  async #patiently(reply: Promise<Reply>, waitMs = this.#waitMs): Promise<Reply> {
    const { promise: late, reject: end } = deferred<never>();
    this.#ends.add(end);
    const timer = setTimeout(() => {
      this.#waitMs = Math.min(IMPATIENCE_MS, this.#patienceMs);
      end(new Error(`no answer for ${waitMs / 1000} s`));
    }, waitMs);
    reply.then(
      () => (this.#waitMs = this.#patienceMs),
      () => {},
    );
    try {
      return await Promise.race([reply, late]);
    } catch (cause) {
      if (this.#isClosed) throw new HoneError("HONE_ERR_STATE", "the stream store is closed", { cause });
      throw new HoneError("HONE_ERR_IO", `the Redis server: ${(cause as Error).message}`, { cause });
    } finally {
      clearTimeout(timer);
      this.#ends.delete(end);
    }
  }
}

const keyOf = (run: string, name: string) => `hone:{${run}}:${name}`;

/** Error of a refusal [why, about, found, more], see scripts.ts. */
function refusalOf([why, about, found, more]: readonly Reply[], fence: Fence | undefined): Refusal {
  const value = found === null || found === undefined ? undefined : String(found);
  const name = String(why) as Refusal["why"];
  const words: Partial<Record<Refusal["why"], () => string>> = {
    lost: () => "it was emptied or replaced after the run had opened it",
    fenced: () => fencedBy(value, fence!.value),
    held: () => heldBy(value!, Number(String(more))),
  };
  return { why: name, about: String(about), found: words[name]?.() ?? value! };
}

/** Throws HONE_ERR_USAGE for a server without persistence, according to INFO. */
function checkKeeps(info: string): void {
  const fact = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1];
  if (fact("aof_enabled") === "0")
    throw new HoneError(
      "HONE_ERR_USAGE",
      "the Redis server keeps no append-only file: a restart would lose rollouts",
      {
        hint: "start it with --appendonly yes, or end the address with ?appendonly=no",
      },
    );
  const policy = fact("maxmemory_policy");
  if (fact("maxmemory") !== "0" && policy !== undefined && policy !== "noeviction")
    throw new HoneError("HONE_ERR_USAGE", `the Redis server drops keys when it is full (${policy})`, {
      hint: "start it with --maxmemory-policy noeviction",
    });
}
