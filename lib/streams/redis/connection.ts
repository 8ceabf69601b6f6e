import { HoneError } from "../../errors.ts";
import { optionalPackage } from "../optional-package.ts";
import { type RedisAddress, readAddress, withoutPassword } from "./address.ts";
import type { Argument, Reply } from "./calls.ts";

/** Subset of ioredis that is used. */
export interface RedisClient {
  callBuffer(command: string, ...args: Argument[]): Promise<Reply>;
  subscribe(channel: string): Promise<unknown>;
  disconnect(): void;
  on(event: "ready" | "close", listener: () => void): this;
  on(event: "error", listener: (error: Error) => void): this;
  on(event: "message", listener: (channel: string, message: string) => void): this;
}

type RedisClass = new (options: object) => RedisClient;

/** Time for a server that starts together with the run. */
const FIRST_CONNECTION_MS = 15_000;
const CONNECT_MS = 5_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 2_000];
/** Non-retryable errors: a wrong password, an untrusted certificate. */
const FOR_GOOD =
  /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|CERT|certificate|ERR_TLS|unable to verify/i;
const PACKAGE = "ioredis";

/** Connections to one server that reconnect automatically. */
export class RedisConnections {
  readonly address: RedisAddress;
  readonly #url: string;
  readonly #class: RedisClass;

  private constructor(url: string, address: RedisAddress, redisClass: RedisClass) {
    this.#url = withoutPassword(url);
    this.address = address;
    this.#class = redisClass;
  }

  /** Rejects with HONE_ERR_USAGE for a bad address and where ioredis is not installed. */
  static async to(url: string): Promise<RedisConnections> {
    const address = readAddress(url);
    const { Redis } = (await optionalPackage(PACKAGE, "a stream store on a Redis server")) as {
      Redis: RedisClass;
    };
    return new RedisConnections(url, address, Redis);
  }

  /**
   * Opens one connection. Commands wait while the server is unreachable, and are resent if their reply was lost.
   * Rejects with HONE_ERR_IO after FIRST_CONNECTION_MS, HONE_ERR_USAGE immediately if the server refuses permanently.
   */
  connect(firstMs = FIRST_CONNECTION_MS): Promise<RedisClient> {
    const { mustKeep: _, ...server } = this.address;
    const client = new this.#class({
      ...server,
      connectTimeout: CONNECT_MS,
      maxRetriesPerRequest: null,
      autoResubscribe: true,
      retryStrategy: (times: number) => Math.min(FIRST_PAUSE_MS * times, LONGEST_PAUSE_MS),
    });
    return new Promise((resolve, reject) => {
      let last: Error | undefined;
      const fail = () => {
        client.disconnect();
        reject(this.#unreachable(last));
      };
      const timer = setTimeout(fail, firstMs);
      client.on("error", (error) => {
        last = error;
        if (!isForGood(error)) return;
        clearTimeout(timer);
        fail();
      });
      client.on("ready", () => {
        clearTimeout(timer);
        resolve(client);
      });
    });
  }

  #unreachable(cause: Error | undefined): HoneError {
    const [code, hint] =
      cause !== undefined && isForGood(cause)
        ? (["HONE_ERR_USAGE", "path" in this.address ? SOCKET_HINT : REFUSED_HINT] as const)
        : (["HONE_ERR_IO", ABSENT_HINT] as const);
    return new HoneError(code, `${this.#url}: ${cause?.message || "no answer"}`, { cause, hint });
  }
}

const REFUSED_HINT =
  "HONE_REDIS_PASSWORD or HONE_REDIS_PASSWORD_FILE gives a password, HONE_REDIS_CA a certificate authority";
const SOCKET_HINT =
  "A server at a Unix socket gets no password: the mode of the socket's folder says who may connect. Use redis:// for one that asks for a password";
const ABSENT_HINT =
  "Is a server there (`redis-server --port 6379 --appendonly yes` starts one), and reached from here? rediss:// is for ports with TLS, redis:// for those without";

const isForGood = (error: Error): boolean =>
  FOR_GOOD.test(`${(error as { code?: string }).code} ${error.message}`);
