import { randomUUID } from "node:crypto";
import { HoneError } from "../errors.ts";
import { checkCount, checkKey, checkMs, checkName, checkText } from "./checks.ts";
import type { Appended, Arguments, Driver, Fence, OperationName, Result } from "./driver.ts";
import { DriverRegisters } from "./driver-registers.ts";
import { Notifier } from "./notifier.ts";
import type {
  Depth,
  DepthOf,
  Entry,
  EntrySize,
  Lease,
  LeaseEnd,
  LeaseOptions,
  Offset,
  ReadOptions,
  StreamStore,
} from "./store.ts";
import { UnderWay } from "./under-way.ts";
import { inMs, type Quiet, Waiter } from "./waiter.ts";

const NO_SIZE: EntrySize = { samples: 0, tokens: 0 };
const MAX_DELIVERIES = 10;

/** Reader of a stream: with its own cursor, or a group, whose cursor the store keeps. */
interface Reader {
  readonly stream: string;
  readonly group?: string;
  readonly after: Offset;
}

interface Found<T> {
  readonly entries: readonly T[];
  /** The reader's cursor after the returned entries. */
  readonly after?: Offset;
  /** Milliseconds until there may be more entries without a notification. */
  readonly nextMs?: number | undefined;
}

/** A StreamStore over a driver: checks arguments, waits for entries, and identifies leases. */
export class DriverStore implements StreamStore {
  readonly kv: DriverRegisters;
  readonly #driver: Driver;
  readonly #waiter: Waiter;
  /** Known ends of streams: after a poll that reached the end, no further poll is needed before a notification. */
  readonly #ends = new Map<string, Quiet & { readonly after: Offset }>();
  readonly #calls = new UnderWay();
  #fence: Fence | undefined;
  #closing: Promise<void> | undefined;

  constructor(driver: Driver) {
    const notifier = new Notifier();
    driver.onNews((topic) => notifier.ring(topic));
    this.#driver = driver;
    this.#waiter = new Waiter(notifier, driver.pauseMs, (topic) => driver.attend?.(topic));
    const ask: Driver["run"] = (...call) => this.#calls.run(() => this.#open().run(...call));
    this.kv = new DriverRegisters(ask, this.#waiter);
  }

  fence(key: string, value: string): void {
    checkKey("fence's key", key);
    checkText("fence's value", value);
    this.#fence = { key, value };
  }

  async append(stream: string, key: string, payload: Uint8Array, size = NO_SIZE): Promise<Offset> {
    return this.#run("append", appended(stream, key, payload, size));
  }

  async lease(stream: string, group: string, options: LeaseOptions): Promise<Lease[]> {
    const { max, leaseMs, maxDeliveries = MAX_DELIVERIES } = options;
    checkName("group", group);
    checkMs("leaseMs", leaseMs);
    checkCount("maxDeliveries", maxDeliveries, 1);
    const token = randomUUID();
    const found = await this.#entries({ stream, group, after: 0 }, options, async () => {
      const args = { stream, group, token, max, leaseMs, maxDeliveries };
      const { leases, nextMs } = await this.#run("lease", args);
      // another reader's renewal for a shorter time is not notified: its lease may expire earlier than known
      return { entries: leases, nextMs: Math.min(nextMs ?? leaseMs, leaseMs) };
    });
    return found.map((entry) => ({ stream, group, token, ...entry }));
  }

  async renew(lease: Lease, leaseMs: number): Promise<boolean> {
    checkMs("leaseMs", leaseMs);
    return this.#run("renew", { ...held(lease), leaseMs });
  }

  async forward(
    lease: Lease,
    out: string,
    key: string,
    payload: Uint8Array,
    size = NO_SIZE,
  ): Promise<Offset | null> {
    return this.#run("forward", { ...held(lease), out: appended(out, key, payload, size), keeps: false });
  }

  async note(lease: Lease, out: string, key: string, payload: Uint8Array, size = NO_SIZE): Promise<void> {
    await this.#run("forward", { ...held(lease), out: appended(out, key, payload, size), keeps: true });
  }

  async release(lease: Lease, end: LeaseEnd): Promise<boolean> {
    if (typeof end === "object") checkText("the reason of a dead letter", end.dead);
    return this.#run("release", { ...held(lease), end });
  }

  async free(key: string, as: "lost" | "retry"): Promise<number> {
    checkKey("fence's key", key);
    return this.#run("free", { key, as });
  }

  async read(stream: string, after: Offset, options: ReadOptions): Promise<Entry[]> {
    checkCount("cursor", after);
    const found = await this.#entries({ stream, after }, options, async () => {
      const entries = await this.#run("read", { stream, after, max: options.max });
      return { entries, after: entries.at(-1)?.offset ?? after };
    });
    return [...found];
  }

  async pin(stream: string, name: string, cursor: Offset | null): Promise<void> {
    checkName("stream", stream);
    checkName("checkpoint", name);
    if (cursor !== null) checkCount("cursor", cursor);
    await this.#run("pin", { stream, name, cursor });
  }

  async trim(stream: string, before: Offset): Promise<number> {
    checkName("stream", stream);
    checkCount("offset", before);
    return this.#run("trim", { stream, before });
  }

  async depth(stream: string, of?: DepthOf): Promise<Depth> {
    checkName("stream", stream);
    if (of !== undefined && "group" in of) checkName("group", of.group);
    if (of !== undefined && "after" in of) checkCount("cursor", of.after);
    return this.#run("depth", { stream, ...of });
  }

  async forget(): Promise<void> {
    await this.#open().forget?.();
  }

  close(): Promise<void> {
    this.#waiter.close();
    this.#closing ??= this.#driver.close();
    return this.#closing;
  }

  abandon(why: HoneError): void {
    this.#calls.abandon(why);
    this.#waiter.close(why);
    this.close().catch(() => {}); // an error of closing is ignored, because `why` says more
  }

  readonly [Symbol.asyncDispose] = () => this.close();

  async #entries<T>(
    { stream, group, after }: Reader,
    { max, ...waiting }: ReadOptions,
    look: () => Promise<Found<T>>,
  ): Promise<readonly T[]> {
    checkName("stream", stream);
    checkCount("max", max, 1);
    const reader = `${stream} ${group ?? ""}`;
    const end = this.#ends.get(reader);
    const quiet = end?.after === after ? end : undefined;
    const findMore = async (count: number) => {
      const { entries, after: at = after, nextMs } = await look();
      const isAll = entries.length < max && waiting.waitMs > 0; // only waiting readers get notifications
      if (isAll) this.#ends.set(reader, { after: at, count, untilMs: inMs(nextMs) });
      else this.#ends.delete(reader);
      return entries.length > 0 ? { found: entries } : { nextMs };
    };
    return (await this.#waiter.until(stream, waiting, findMore, quiet)) ?? [];
  }

  #open(): Driver {
    if (this.#closing) throw new HoneError("HONE_ERR_STATE", "the stream store is closed");
    return this.#driver;
  }

  #run<K extends OperationName>(name: K, args: Arguments<K>): Promise<Result<K>> {
    return this.#calls.run(() => this.#open().run(name, args, this.#fence));
  }
}

function appended(stream: string, key: string, payload: Uint8Array, size: EntrySize): Appended {
  checkName("stream", stream);
  checkKey("key", key);
  checkCount("samples", size.samples);
  checkCount("tokens", size.tokens);
  if (!(payload instanceof Uint8Array))
    throw new HoneError("HONE_ERR_USAGE", "a payload is not a Uint8Array");
  return { stream, key, payload, size: { samples: size.samples, tokens: size.tokens } };
}

const held = ({ stream, group, offset, token }: Lease) => ({ stream, group, offset, token });
